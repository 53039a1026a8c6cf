// N of one row of scores, and its gradient. A score of -inf is a key that is not there.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "heed/ops/attention/spec/spec.h"

namespace heed {

template <typename Sum>
class RowNormaliser {
 public:
  static constexpr Sum kNone = -std::numeric_limits<Sum>::infinity();

  explicit RowNormaliser(Normaliser::Kind kind) : kind_(kind) {}

  // Fills weights and returns the row's statistic: see AttentionResult::row_stat. `sink` is a further score that takes
  // weight; kNone for none. A row without keys has weights zero and the statistic -inf. A NaN or +inf makes the weight
  // of every key that is there NaN (sigmoid: its own). Weights come from differences to the largest score, so that they
  // sum to one however large the scores are.
  Sum normalise(std::span<const Sum> scores, Sum sink, std::span<Sum> weights) {
    const Statistic stat = statistic(scores, sink);
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const bool refused = scores[j] == kNone || stat.whole == kNone;
      weights[j] = refused ? Sum{0} : weight(scores[j] - stat.top, stat.beyond);
    }
    return stat.whole;
  }

  // The weights of normalise() from its statistic.
  void weights_from(std::span<const Sum> scores, Sum stat, std::span<Sum> weights) const {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      weights[j] = scores[j] == kNone || stat == kNone ? Sum{0} : weight(scores[j], stat);
    }
  }

  // dscores from dweights (of the weights before dropout) and dstat.
  void gradient(std::span<const Sum> scores, std::span<const Sum> weights, Sum stat, std::span<const Sum> dweights,
                Sum dstat, std::span<Sum> dscores) const {
    Sum flow = 0, size = 0;  // what the scores' common change takes back
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (scores[j] == kNone) continue;
      const Sum part = share(weights[j]);
      flow += part * dweights[j];
      size += part;
    }
    const bool pooled = kind_ == Normaliser::Kind::sparsemax || kind_ == Normaliser::Kind::entmax15;
    if (pooled && size != 0) flow /= size;
    for (std::size_t j = 0; j < scores.size(); ++j) {
      dscores[j] = 0;
      if (scores[j] == kNone || stat == kNone) continue;
      switch (kind_) {
        case Normaliser::Kind::softmax:
          dscores[j] = weights[j] * (dweights[j] - flow + dstat);
          break;
        case Normaliser::Kind::sigmoid:
          dscores[j] = weights[j] * (1 - weights[j]) * dweights[j];
          break;
        case Normaliser::Kind::sparsemax:
        case Normaliser::Kind::entmax15: {
          const Sum of_stat = kind_ == Normaliser::Kind::sparsemax ? dstat : dstat / 2;
          dscores[j] = share(weights[j]) * (dweights[j] - flow + (size != 0 ? of_stat / size : Sum{0}));
          break;
        }
        case Normaliser::Kind::sum:
          dscores[j] = (stat != 0 ? (dweights[j] - flow) / stat : Sum{0}) + dstat;
          break;
      }
    }
  }

 private:
  // What a key weighs in the sum that all keys give back: dw / ds before that sum, for the pooled ones.
  Sum share(Sum weight) const {
    if (kind_ == Normaliser::Kind::sparsemax) return weight > 0 || std::isnan(weight) ? weight / weight : Sum{0};
    return kind_ == Normaliser::Kind::entmax15 ? std::sqrt(weight) : weight;
  }

  Sum weight(Sum score, Sum stat) const {
    switch (kind_) {
      case Normaliser::Kind::softmax:
        return std::exp(score - stat);
      case Normaliser::Kind::sigmoid:
        return score < 0 ? std::exp(score) / (1 + std::exp(score)) : 1 / (1 + std::exp(-score));
      case Normaliser::Kind::sparsemax:
        return positive(score - stat);
      case Normaliser::Kind::entmax15: {
        const Sum root = positive(score / 2 - stat);
        return root * root;
      }
      case Normaliser::Kind::sum:
        return stat == 0 ? Sum{0} : score / stat;
    }
    return 0;
  }

  // max(x, 0) that keeps a NaN.
  static Sum positive(Sum x) { return x > 0 || std::isnan(x) ? x : Sum{0}; }

  // A row's statistic as what it is beyond the largest score (zero where the normaliser does not compare scores), and
  // whole.
  struct Statistic {
    Sum top, beyond, whole;
  };

  Statistic statistic(std::span<const Sum> scores, Sum sink) {
    sorted_.clear();
    bool nan = false;
    for (Sum score : scores) {
      if (score == kNone) continue;
      nan |= std::isnan(score);
      sorted_.push_back(score);
    }
    if (sorted_.empty()) return {0, kNone, kNone};
    if (kind_ == Normaliser::Kind::sigmoid) return {0, 0, 0};
    if (nan) return whole(std::numeric_limits<Sum>::quiet_NaN());
    if (kind_ == Normaliser::Kind::sum) {
      Sum sum = 0;
      for (Sum score : sorted_) sum += score;
      return whole(sum);
    }
    std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
    const Sum top = std::max(sorted_.front(), sink);
    if (top == std::numeric_limits<Sum>::infinity()) return whole(std::numeric_limits<Sum>::quiet_NaN());
    switch (kind_) {
      case Normaliser::Kind::sparsemax: {
        const Sum tau = sparsemax_threshold(top);
        return {top, tau, top + tau};
      }
      case Normaliser::Kind::entmax15: {
        const Sum tau = entmax_threshold(top);
        return {top, tau, top / 2 + tau};
      }
      default: {
        const Sum log_sum = log_sum_exp(top, sink);
        return {top, log_sum, top + log_sum};
      }
    }
  }
  static Statistic whole(Sum stat) { return {0, stat, stat}; }

  Sum log_sum_exp(Sum top, Sum sink) const {
    Sum sum = sink == kNone ? Sum{0} : std::exp(sink - top);
    for (Sum score : sorted_) sum += std::exp(score - top);
    return std::log(sum);
  }

  // Martins & Astudillo 2016, algorithm 1: tau = (sum of the k largest - 1) / k for the largest k whose k-th score is
  // above its own tau.
  Sum sparsemax_threshold(Sum top) const {
    Sum sum = 0, tau = 0, k = 0;
    for (Sum score : sorted_) {
      const Sum x = score - top, next = (sum + x - 1) / (k + 1);
      if (x <= next) break;
      sum += x, k += 1, tau = next;
    }
    return tau;
  }

  // Peters et al. 2019, algorithm 2: with x = s / 2, tau = mean - sqrt((1 - k var) / k) over the k largest.
  Sum entmax_threshold(Sum top) const {
    Sum sum = 0, squares = 0, tau = 0, k = 0;
    for (Sum score : sorted_) {
      const Sum x = (score - top) / 2;
      sum += x, squares += x * x, k += 1;
      const Sum mean = sum / k, delta = (1 - (squares - sum * mean)) / k;
      const Sum next = mean - std::sqrt(std::max<Sum>(delta, 0));
      if (next > x || delta < 0) break;
      tau = next;
    }
    return tau;
  }

  Normaliser::Kind kind_;
  std::vector<Sum> sorted_;
};

}  // namespace heed
