#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/check.h"
#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

constexpr Index kTile = 2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

LabelledMatrix of_queries(const std::string& name, const Tensor& matrix, std::vector<std::string> columns) {
  return label_matrix(name, matrix.view(), numbered_labels("q", matrix.dim(0)), std::move(columns));
}

// Online softmax: what is known of each query's row after some tiles of keys (Milakov and Gimelshein 2018; Dao et al.
// 2022, algorithm 1). The operator's fused plan does the same and keeps none of it; here it is in plain loops.
class OnlineSoftmax {
 public:
  // What a tile made of it.
  struct Tile {
    Tensor scores, exponentials;  // [queries, kTile]
    Tensor statistics;            // [queries, 4]: m_old, m, factor, l
    Tensor output;                // [queries, value width], not yet divided by l
  };

  OnlineSoftmax(Index queries, Index value_width)
      : maximum_(static_cast<std::size_t>(queries), -kInfinity),
        sum_(static_cast<std::size_t>(queries), 0.0),
        output_(Tensor::zeros(DType::f64, {queries, value_width})) {}

  // Meets keys [first, first + kTile), of which the scaled scores and the values are given.
  Tile meet(const Tensor& scaled, const Tensor& values, Index first) {
    const Index queries = output_.dim(0);
    Tile tile{Tensor::empty(DType::f64, {queries, kTile}),
              Tensor::empty(DType::f64, {queries, kTile}),
              Tensor::empty(DType::f64, {queries, 4}),
              {}};
    for (Index i = 0; i < queries; ++i) {
      double& m = maximum_[static_cast<std::size_t>(i)];
      double& l = sum_[static_cast<std::size_t>(i)];
      const double m_old = m;
      for (Index j = 0; j < kTile; ++j) {
        tile.scores.at<double>({i, j}) = scaled.at<double>({i, first + j});
        m = std::max(m, tile.scores.at<double>({i, j}));
      }
      const double factor = std::exp(m_old - m);
      l *= factor;
      for (Index d = 0; d < output_.dim(1); ++d) output_.at<double>({i, d}) *= factor;
      for (Index j = 0; j < kTile; ++j) {
        const double e = std::exp(tile.scores.at<double>({i, j}) - m);
        tile.exponentials.at<double>({i, j}) = e;
        l += e;
        for (Index d = 0; d < output_.dim(1); ++d) {
          output_.at<double>({i, d}) += e * values.at<double>({first + j, d});
        }
      }
      const double row[] = {m_old, m, factor, l};
      for (Index c = 0; c < 4; ++c) tile.statistics.at<double>({i, c}) = row[c];
    }
    tile.output = output_.clone();
    return tile;
  }

  Tensor divided() const {
    const Tensor out = output_.clone();
    for (Index i = 0; i < out.dim(0); ++i) {
      for (Index d = 0; d < out.dim(1); ++d) out.at<double>({i, d}) /= sum_[static_cast<std::size_t>(i)];
    }
    return out;
  }
  // [queries, 1]
  Tensor log_sum_exp() const {
    const Tensor lse = Tensor::empty(DType::f64, {output_.dim(0), 1});
    for (Index i = 0; i < lse.dim(0); ++i) {
      const auto row = static_cast<std::size_t>(i);
      lse.at<double>({i, 0}) = maximum_[row] + std::log(sum_[row]);
    }
    return lse;
  }

 private:
  std::vector<double> maximum_, sum_;
  Tensor output_;
};

}  // namespace

Explanation explain_flash_attention(Language language) {
  // The first query's scaled scores are 1 3 | 2 5 | 0 4, so that its maximum grows once more; the second's 4 2 | 1 0 |
  // 3 2, so that its maximum stays.
  const Tensor q = small_matrix({{2, 0, 2, 0}, {0, 2, 0, 2}});
  const Tensor k = small_matrix({{1, 2, 0, 2}, {2, 1, 1, 1}, {1, 1, 1, 0}, {3, 0, 2, 0}, {0, 2, 0, 1}, {2, 1, 2, 1}});
  const Tensor v = small_matrix({{1, 0}, {0, 1}, {2, 1}, {1, 2}, {0, 3}, {3, 0}});
  const AttentionStages stages =
      compute_attention_stages(as_one_head(q).view(), as_one_head(k).view(), as_one_head(v).view(), {});
  const Tensor scaled = Tensor::copy_of(head_of(stages.scaled.view(), 0));
  const std::vector<std::string> columns = numbered_labels("d", v.dim(1)), keys = numbered_labels("k", k.dim(0));

  WalkWriter walk("flash-attention", language);
  walk.add("inputs", "Q [2, 4], K [6, 4], V [6, 2],   scaled = Q K^T / sqrt(4)",
           {of_queries("Q", q, numbered_labels("d", 4)), label_matrix("K", k.view(), keys, numbered_labels("d", 4)),
            label_matrix("V", v.view(), keys, columns)});
  OnlineSoftmax online(q.dim(0), v.dim(1));
  for (Index first = 0; first < k.dim(0); first += kTile) {
    const OnlineSoftmax::Tile tile = online.meet(scaled, v, first);
    const std::vector<std::string> of_tile = numbered_labels("k", kTile, first + 1);
    walk.add(fmt::format("tile-{}", first / kTile + 1),
             "m = max(m_old, max_j S[i, j]),   factor = e^(m_old - m),   P[i, j] = e^(S[i, j] - m),   "
             "l = factor * l_old + sum_j P[i, j],   O = factor * O_old + P V",
             {of_queries("S", tile.scores, of_tile), of_queries("P", tile.exponentials, of_tile),
              of_queries("statistics", tile.statistics, {"m_old", "m", "factor", "l"}),
              of_queries("O", tile.output, columns)});
  }
  walk.add("output", "output = O / l,   log_sum_exp = m + log(l)",
           {of_queries("output", online.divided(), columns),
            of_queries("log_sum_exp", online.log_sum_exp(), {"log_sum_exp"})});
  const Tensor weights = Tensor::copy_of(head_of(stages.weights.view(), 0));
  const LabelledMatrix all_weights = of_queries("weights", weights, keys);
  walk.add(
      "whole", "weights = softmax(scaled),   output = weights V",
      {of_queries("scaled", scaled, keys), all_weights,
       of_queries("output", Tensor::copy_of(head_of(stages.out.view(), 0)), columns),
       of_queries("log_sum_exp", Tensor::copy_of(stages.row_stat.view()).reshape({q.dim(0), 1}), {"log_sum_exp"})});
  return std::move(walk).finish({all_weights});
}

}  // namespace heed
