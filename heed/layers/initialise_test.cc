// The distribution of every layer's initial values, held against the one that PyTorch gives the parameter of the same
// name (torch/nn/modules: transformer.py, activation.py, linear.py, rnn.py, normalization.py, sparse.py).
#include "heed/layers/initialise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/embedding.h"
#include "heed/layers/recurrent.h"
#include "heed/layers/transformer_block.h"

namespace heed {
namespace {

// Uniform in +-scale, normal of deviation scale, or everywhere the same.
struct Distribution {
  enum class Kind { uniform, normal, constant } kind;
  double scale;
};
Distribution uniform(double bound) { return {Distribution::Kind::uniform, bound}; }
Distribution normal(double deviation) { return {Distribution::Kind::normal, deviation}; }
Distribution constant(double value) { return {Distribution::Kind::constant, value}; }
// torch.nn.init.xavier_uniform_ of an [outputs, inputs] matrix.
Distribution xavier(double outputs, double inputs) { return uniform(std::sqrt(6 / (outputs + inputs))); }

// The share of numbers up to x.
double cumulative(const Distribution& d, double x) {
  if (d.kind == Distribution::Kind::normal) return 0.5 * std::erfc(-x / (d.scale * std::sqrt(2.0)));
  return std::clamp((x + d.scale) / (2 * d.scale), 0.0, 1.0);
}

// Kolmogorov and Smirnov's test: the greatest distance between the share of the numbers up to x and what it should be,
// times the root of their count, is above 2.5 for one sample in 134,000.
double distance(const Distribution& d, const ConstView& view) {
  std::vector<double> x(view.as<float>(), view.as<float>() + view.size());
  std::sort(x.begin(), x.end());
  double most = 0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double share = cumulative(d, x[i]);
    most = std::max({most, share - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - share});
  }
  return most * std::sqrt(n);
}

// Each parameter has the distribution of its name, and no other names are there.
void expect_distributions(const ParameterList& list, const std::map<std::string, Distribution>& expected) {
  EXPECT_EQ(list.size(), expected.size());
  for (const auto& [name, var] : list) {
    ASSERT_TRUE(expected.contains(name)) << name;
    const Distribution& d = expected.at(name);
    const ConstView view = var.value().view();
    if (d.kind == Distribution::Kind::constant) {
      for (Index i = 0; i < view.size(); ++i) ASSERT_EQ(view.as<float>()[i], d.scale) << name;
    } else {
      EXPECT_LT(distance(d, view), 2.5) << name;
    }
  }
}

constexpr double kWidth = 96, kHidden = 160;

// What torch.nn.MultiheadAttention draws: the packed projection's fan is that of the whole matrix.
std::map<std::string, Distribution> attention_values(const std::string& path, double kv_width = kWidth) {
  return {{path + ".in_proj_weight", xavier(kWidth + 2 * kv_width, kWidth)},
          {path + ".in_proj_bias", constant(0)},
          {path + ".out_proj.weight", xavier(kWidth, kWidth)},
          {path + ".out_proj.bias", constant(0)}};
}

// A layer of torch.nn.Transformer, which makes every matrix Xavier uniform; biases stay what torch.nn.Linear drew.
std::map<std::string, Distribution> layer_values(int norms) {
  std::map<std::string, Distribution> values = attention_values("self_attn");
  values.insert({{"linear1.weight", xavier(kHidden, kWidth)},
                 {"linear1.bias", uniform(1 / std::sqrt(kWidth))},
                 {"linear2.weight", xavier(kWidth, kHidden)},
                 {"linear2.bias", uniform(1 / std::sqrt(kHidden))}});
  for (int norm = 1; norm <= norms; ++norm) {
    values.insert({"norm" + std::to_string(norm) + ".weight", constant(1)});
    values.insert({"norm" + std::to_string(norm) + ".bias", constant(0)});
  }
  return values;
}

TEST(InitialValues, OfATransformersLayersAreThoseOfPyTorch) {
  TransformerBlockOptions options{.width = 96, .heads = 4, .ffn_width = 160};
  DrawnParameters encoder(Rng(1)), decoder(Rng(2));
  const TransformerBlock encoder_block(encoder, AttentionKind::encoder, options);
  expect_distributions(encoder.list(), layer_values(2));
  options.cross = true;
  const TransformerBlock decoder_block(decoder, AttentionKind::decoder, options);
  std::map<std::string, Distribution> expected = layer_values(3);
  expected.merge(attention_values("multihead_attn"));
  expect_distributions(decoder.list(), expected);
}

TEST(InitialValues, OfMultiHeadAttentionAreThoseOfPyTorch) {
  std::uint64_t seed = 2;
  const auto values = [&](const MultiheadAttentionOptions& options) {
    DrawnParameters drawn{Rng(seed++)};
    const MultiheadAttention attention(ParameterScope(drawn) / "a", AttentionKind::encoder, options);
    return drawn.list();
  };
  std::map<std::string, Distribution> expected = attention_values("a");
  const double row = 1 / std::sqrt(kWidth);  // torch.nn.init.xavier_normal_ of [1, 1, width]
  expected.insert({{"a.bias_k", normal(row)}, {"a.bias_v", normal(row)}});
  expect_distributions(values({.embed_dim = 96, .num_heads = 4, .add_bias_kv = true}), expected);

  // Keys and values of other widths have matrices of their own.
  expected = attention_values("a");
  expected.erase("a.in_proj_weight");
  expected.insert({{"a.q_proj_weight", xavier(kWidth, kWidth)},
                   {"a.k_proj_weight", xavier(kWidth, 40)},
                   {"a.v_proj_weight", xavier(kWidth, 56)}});
  expect_distributions(values({.embed_dim = 96, .num_heads = 4, .kdim = 40, .vdim = 56}), expected);

  // Grouped heads, which PyTorch has not: one packed projection all the same.
  expect_distributions(values({.embed_dim = 96, .num_heads = 4, .num_kv_heads = 1}), attention_values("a", 24));
}

TEST(InitialValues, OfRecurrentLayersAreThoseOfPyTorch) {
  for (CellKind cell : {CellKind::rnn, CellKind::gru, CellKind::lstm}) {
    DrawnParameters drawn(Rng(3));
    const Recurrent layer(drawn, {.cell = cell, .inputs = 40, .hidden = 80, .direction = Direction::both});
    const ParameterList& list = drawn.list();
    std::map<std::string, Distribution> expected;
    for (const auto& [name, var] : list) expected.insert({name, uniform(1 / std::sqrt(80.0))});
    EXPECT_EQ(expected.size(), 8u);
    expect_distributions(list, expected);
  }
}

// torch.nn.Embedding is standard normal. heed's rows are that when they are looked up; the table itself, which a tied
// output multiplies with, is smaller by the scale (Vaswani et al. 2017, section 3.4).
TEST(InitialValues, OfAnEmbeddingAreStandardNormalWhenLookedUp) {
  DrawnParameters drawn(Rng(4));
  const double scale = std::sqrt(kWidth);
  const Embedding embedding(ParameterScope(drawn) / "embedding", 500, 96, scale);
  expect_distributions(drawn.list(), {{"embedding.weight", normal(1 / scale)}});
}

}  // namespace
}  // namespace heed
