// The definition of multi-head attention in double, by hand, which the layer is held against.
//
//   EXPECT_LT(difference(layer, q, k, v, {.is_causal = true},
//                        [](Index, Index, Index i, Index j) { return j > i ? kLeftOut : 0; }), kTolerance);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heed/layers/cross_layer_test.h"
#include "heed/layers/multihead_attention.h"
#include "heed/ops/elementwise.h"
#include "heed/testing/gradient_check.h"

namespace heed::testing {

// What is added to the score of key j; -inf leaves it out.
using Added = std::function<double(Index b, Index h, Index i, Index j)>;

inline constexpr double kLeftOut = -std::numeric_limits<double>::infinity();

// The definition with the parameters of a layer.
class Plain {
  using Numbers = std::vector<double>;

 public:
  explicit Plain(const CrossLayer& layer) : o_(layer.attention.options()) {
    for (const auto& [name, var] : layer.parameters) parameters_[name] = var.value().to(DType::f64);
  }

  // [B, L, *] to out [B, Lq, embed_dim] and weights [B, H, Lq, Lk + extra].
  std::pair<Tensor, Tensor> operator()(const Tensor& q, const Tensor& k, const Tensor& v, const Added& added) const {
    const Index batch = q.dim(0), queries = q.dim(1), keys = k.dim(1), d = o_.head_dim;
    const Index extra = Index{o_.add_bias_kv} + Index{o_.add_zero_attn};
    const Tensor out = Tensor::zeros(DType::f64, {batch, queries, o_.embed_dim});
    const Tensor weights = Tensor::zeros(DType::f64, {batch, o_.num_heads, queries, keys + extra});
    for (Index b = 0; b < batch; ++b) {
      const std::vector<Numbers> of_keys = projected(k, b, "k"), of_values = projected(v, b, "v");
      const std::vector<Numbers> of_queries = projected(q, b, "q");
      for (Index i = 0; i < queries; ++i) {
        Numbers heads;
        for (Index h = 0; h < o_.num_heads; ++h) {
          const Index g = h / (o_.num_heads / o_.num_kv_heads);
          Numbers scores;
          for (Index j = 0; j < keys + extra; ++j) {
            double dot = 0;
            for (Index f = 0; f < d; ++f) dot += of_queries[i][h * d + f] * of_keys[j][g * d + f];
            scores.push_back(dot / std::sqrt(static_cast<double>(d)) + (j < keys && added ? added(b, h, i, j) : 0));
          }
          const Numbers w = softmax(scores, h);
          for (Index j = 0; j < keys + extra; ++j) weights.at<double>({b, h, i, j}) = w[j];
          for (Index f = 0; f < d; ++f) {
            double sum = 0;
            for (Index j = 0; j < keys + extra; ++j) sum += w[j] * of_values[j][g * d + f];
            heads.push_back(sum);
          }
        }
        const Numbers y = affine(heads.data(), "out_proj.weight", 0, o_.embed_dim, "out_proj.bias", 0);
        for (Index e = 0; e < o_.embed_dim; ++e) out.at<double>({b, i, e}) = y[e];
      }
    }
    return {out, weights};
  }

 private:
  Numbers affine(const double* x, const std::string& weight, Index first, Index rows, const std::string& bias,
                 Index first_bias) const {
    const Tensor& w = parameters_.at(weight);
    Numbers y;
    for (Index r = 0; r < rows; ++r) {
      double sum = parameters_.contains(bias) ? parameters_.at(bias).at<double>({first_bias + r}) : 0;
      for (Index c = 0; c < w.dim(1); ++c) sum += x[c] * w.at<double>({first + r, c});
      y.push_back(sum);
    }
    return y;
  }

  // The rows of one sequence projected, for "q", "k" or "v", with the extra keys or values.
  std::vector<Numbers> projected(const Tensor& x, Index b, const std::string& part) const {
    const Index of_queries = o_.num_heads * o_.head_dim, of_keys = o_.num_kv_heads * o_.head_dim;
    const Index first = part == "q" ? 0 : part == "k" ? of_queries : of_queries + of_keys;
    const Index rows = part == "q" ? of_queries : of_keys;
    const bool packed = parameters_.contains("in_proj_weight");
    const Tensor wide = x.to(DType::f64);
    std::vector<Numbers> result;
    for (Index i = 0; i < x.dim(1); ++i) {
      result.push_back(affine(&wide.at<double>({b, i, 0}), packed ? "in_proj_weight" : part + "_proj_weight",
                              packed ? first : 0, rows, "in_proj_bias", first));
    }
    if (part == "q") return result;
    if (o_.add_bias_kv) {
      const Tensor& row = parameters_.at("bias_" + part);
      result.emplace_back(row.data<double>(), row.data<double>() + rows);
    }
    if (o_.add_zero_attn) result.emplace_back(rows, 0.0);
    return result;
  }

  Numbers softmax(const Numbers& scores, Index h) const {
    double sum = parameters_.contains("sinks") ? std::exp(parameters_.at("sinks").at<double>({h})) : 0;
    for (double s : scores) sum += std::exp(s);
    Numbers weights;
    for (double s : scores) weights.push_back(sum > 0 ? std::exp(s) / sum : 0);
    return weights;
  }

  MultiheadAttentionOptions o_;
  std::map<std::string, Tensor> parameters_;
};

inline Tensor averaged(const Tensor& weights) {
  const Tensor mean = Tensor::zeros(DType::f64, {weights.dim(0), weights.dim(2), weights.dim(3)});
  for (Index b = 0; b < weights.dim(0); ++b)
    for (Index h = 0; h < weights.dim(1); ++h)
      add_scaled_to(select(select(weights.view(), 0, b), 0, h), 1.0 / static_cast<double>(weights.dim(1)),
                    select(mean.view(), 0, b));
  return mean;
}

// The largest difference of out and of weights per head from the definition.
inline double difference(CrossLayer& layer, const Tensor& q, const Tensor& k, const Tensor& v,
                         AttentionArguments arguments, const Added& added) {
  const auto [out, weights] = Plain(layer)(q, k, v, added);
  arguments.need_weights = true;
  arguments.average_attn_weights = false;
  const Attended each = layer(q, k, v, arguments);
  arguments.average_attn_weights = true;
  const Attended mean = layer(q, k, v, arguments);
  EXPECT_TRUE(same_bits(each.out, mean.out));
  return std::max({largest_difference(each.out, out), largest_difference(each.weights, weights),
                   largest_difference(mean.weights, averaged(weights))});
}

}  // namespace heed::testing
