// What a score that is a dot product multiplies: the row itself, its unit vector, or its features.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/tensor/numbers.h"

namespace heed {

template <typename Sum>
class ScoreFeatures {
 public:
  explicit ScoreFeatures(const AttentionProblem& c)
      : score_(c.spec.score.kind),
        map_(c.spec.score.feature_map.kind),
        inputs_(c.width),
        outputs_(c.features),
        root_scale_(static_cast<Sum>(std::sqrt(c.feature_scale))) {
    if (!random()) return;
    projection_.resize(static_cast<std::size_t>(outputs_ * inputs_));
    by_input_.resize(projection_.size());
    const ConstView& projection = c.spec.score.feature_map.projection.view();
    for (Index m = 0; m < outputs_; ++m) {
      load_row(projection, projection.offset({m}), inputs_, &projection_[static_cast<std::size_t>(m * inputs_)]);
      for (Index d = 0; d < inputs_; ++d) by_input_[d * outputs_ + m] = projection_[m * inputs_ + d];
    }
  }

  // Whether a row stands for itself.
  bool identity() const { return score_ != Score::Kind::cosine && score_ != Score::Kind::feature_map; }
  Index size() const { return outputs_; }

  // y [size()] of x [D].
  void map(const Sum* x, Sum* y) const {
    if (score_ == Score::Kind::cosine) {
      const Sum length = std::max(norm(x), kSmallest);
      for (Index d = 0; d < inputs_; ++d) y[d] = x[d] / length;
    } else if (random()) {
      random_features(x, y);
    } else {
      for (Index d = 0; d < inputs_; ++d) y[d] = mapped(x[d]);
    }
  }

  // dx from dy, with y = map(x).
  void backward(const Sum* x, const Sum* y, const Sum* dy, Sum* dx) const {
    if (score_ == Score::Kind::cosine) {
      const Sum length = norm(x);
      Sum along = 0;
      for (Index d = 0; d < inputs_ && length > kSmallest; ++d) along += y[d] * dy[d];
      for (Index d = 0; d < inputs_; ++d) dx[d] = (dy[d] - y[d] * along) / std::max(length, kSmallest);
    } else if (random()) {
      std::fill_n(dx, inputs_, Sum{0});
      for (Index m = 0; m < outputs_; ++m) {
        const Sum flow = dy[m] * y[m];
        for (Index d = 0; d < inputs_; ++d) dx[d] += flow * (projection_[m * inputs_ + d] - root_scale_ * x[d]);
      }
      for (Index d = 0; d < inputs_; ++d) dx[d] *= root_scale_;
    } else {
      const bool elu = map_ == FeatureMap::Kind::elu_plus_one;
      for (Index d = 0; d < inputs_; ++d) dx[d] = x[d] > 0 ? dy[d] : elu ? dy[d] * y[d] : Sum{0};
    }
  }

 private:
  static constexpr Sum kSmallest = Sum{1e-8};  // of a norm

  bool random() const { return score_ == Score::Kind::feature_map && map_ == FeatureMap::Kind::positive_random; }

  Sum norm(const Sum* x) const {
    Sum sum = 0;
    for (Index d = 0; d < inputs_; ++d) sum += x[d] * x[d];
    return std::sqrt(sum);
  }

  Sum mapped(Sum x) const {
    if (x > 0 || std::isnan(x)) return map_ == FeatureMap::Kind::relu ? x : x + 1;
    return map_ == FeatureMap::Kind::relu ? Sum{0} : std::exp(x);
  }

  void random_features(const Sum* x, Sum* y) const {
    Sum squares = 0;
    for (Index d = 0; d < inputs_; ++d) squares += x[d] * x[d];
    const Sum half = root_scale_ * root_scale_ * squares / 2, root = std::sqrt(static_cast<Sum>(outputs_));
    std::fill_n(y, outputs_, Sum{0});
    for (Index d = 0; d < inputs_; ++d)
      for (Index m = 0; m < outputs_; ++m) y[m] += by_input_[d * outputs_ + m] * x[d];
    for (Index m = 0; m < outputs_; ++m) y[m] = std::exp(root_scale_ * y[m] - half) / root;
  }

  Score::Kind score_;
  FeatureMap::Kind map_;
  Index inputs_, outputs_;
  Sum root_scale_;
  std::vector<Sum> projection_, by_input_;  // [M, D], and transposed: sums side by side go several times as fast
};

}  // namespace heed
