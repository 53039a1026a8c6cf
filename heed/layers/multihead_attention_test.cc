#include "heed/layers/multihead_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/ops/elementwise.h"
#include "heed/testing/data_folder.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using Options = MultiheadAttentionOptions;

constexpr double kTolerance = 1e-5;  // PyTorch's own tests: atol of outputs and of weights

// A layer with initial weights, none of whose biases and sinks is zero as they are at first, and what a call needs.
struct CrossLayer {
  explicit CrossLayer(const Options& options, std::uint64_t seed = 1, const std::string& path = "attention")
      : rng(seed), drawn(rng), attention(ParameterScope(drawn) / path, AttentionKind::cross, options) {
    for (const auto& [path_name, var] : drawn.list()) {
      const std::string name = path_name.substr(path.size() + 1);
      list.push_back({name, var});
      if (var.rank() == 1) var.set_value(random_tensor(DType::f32, {var.dim(0)}, seed++, 0.5));
      parameters[name] = var;
    }
  }
  Context context(AttentionObserver* observer = nullptr) { return Context::inference(workspace, observer); }
  Attended operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionArguments& arguments = {}) {
    return attention.forward(context(), Var(q), Var(k), Var(v), arguments);
  }
  Tensor self(const Tensor& x, const AttentionArguments& arguments = {}) {
    const Var in(x);
    return attention.forward(context(), in, in, in, arguments).out.value();
  }

  Rng rng;
  Workspace workspace;
  DrawnParameters drawn;
  MultiheadAttention attention;
  ParameterList list;
  std::map<std::string, Var> parameters;
};

// --- The definition in double, by hand ------------------------------------------------------------------------------

using Numbers = std::vector<double>;

// What is added to the score of key j; -inf leaves it out.
using Added = std::function<double(Index b, Index h, Index i, Index j)>;

class Plain {
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

  Options o_;
  std::map<std::string, Tensor> parameters_;
};

Tensor averaged(const Tensor& weights) {
  const Tensor mean = Tensor::zeros(DType::f64, {weights.dim(0), weights.dim(2), weights.dim(3)});
  for (Index b = 0; b < weights.dim(0); ++b)
    for (Index h = 0; h < weights.dim(1); ++h)
      add_scaled_to(select(select(weights.view(), 0, b), 0, h), 1.0 / static_cast<double>(weights.dim(1)),
                    select(mean.view(), 0, b));
  return mean;
}

constexpr double kLeftOut = -std::numeric_limits<double>::infinity();

Tensor random_booleans(std::initializer_list<Index> shape, Rng& rng) {
  const Tensor mask = Tensor::empty(DType::boolean, shape);
  for (Index i = 0; i < mask.size(); ++i) mask.data<bool>()[i] = rng.uniform() < 0.3;
  return mask;
}

// The largest difference of out and of weights per head from the definition.
double difference(CrossLayer& layer, const Tensor& q, const Tensor& k, const Tensor& v, AttentionArguments arguments,
                  const Added& added) {
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

// --- PyTorch's grid -------------------------------------------------------------------------------------------------

struct Span {
  Index least, most;
  Index draw(Rng& rng) const { return least + rng.below(most - least + 1); }
};

Span span_of(const Json& text) {  // "2..10", "4..10 even"
  long least = 0, most = 0;
  if (std::sscanf(text.string().c_str(), "%ld..%ld", &least, &most) != 2) text.refuse("must be a range");
  return {least, most};
}

TEST(MultiheadAttention, AgreesWithTheDefinitionOverPyTorchsOwnGrid) {
  const Json grid = read_json(testing::tree_data("pytorch/grids.json"))["pytorch"]["mha"];
  const double atol = grid["atol"].number();
  Rng draw(7);
  for (Index round = 0; round < grid["rounds"].integer(1, 1000); ++round) {
    const Index batch = span_of(grid["batch"]).draw(draw), keys = span_of(grid["seq"]).draw(draw);
    const Index width = span_of(grid["head_dim"]).draw(draw), other = span_of(grid["kdim=vdim"]).draw(draw);
    const Index heads = (span_of(grid["heads"]).draw(draw) + 1) / 2 * 2, model = heads * width;
    const Index memory = round % 2 == 0 ? model : other, queries = grid["query_len"].integer(1, 10);
    const Tensor q = random_tensor(DType::f32, {batch, queries, model}, 3 * round);
    const Tensor k = random_tensor(DType::f32, {batch, keys, memory}, 3 * round + 1);
    const Tensor v = random_tensor(DType::f32, {batch, keys, memory}, 3 * round + 2);
    const Tensor padding = random_booleans({batch, keys}, draw);
    const Options none{.embed_dim = model, .num_heads = heads, .kdim = memory, .vdim = memory};
    Options bias_kv = none, zero_attn = none;
    bias_kv.add_bias_kv = zero_attn.add_zero_attn = true;
    const Added padded = [&](Index b, Index, Index, Index j) { return padding.at<bool>({b, j}) ? kLeftOut : 0; };
    for (const Options& options : {none, bias_kv, zero_attn}) {
      CrossLayer layer(options, 100 + round);
      EXPECT_LT(difference(layer, q, k, v, {}, {}), atol) << "round " << round;
      EXPECT_LT(difference(layer, q, k, v, {.key_padding_mask = padding}, padded), atol) << "round " << round;
    }
  }
}

// --- Options against the definition ---------------------------------------------------------------------------------

TEST(MultiheadAttention, AgreesWithTheDefinitionInEveryShapeOfItsHeads) {
  const Options base{.embed_dim = 12, .num_heads = 4};
  const auto with = [&](auto change) {
    Options options = base;
    change(options);
    return options;
  };
  const std::map<std::string, Options> cases{
      {"kdim alone", with([](Options& o) { o.kdim = 5; })},
      {"kdim and vdim", with([](Options& o) { o.kdim = 7, o.vdim = 10; })},
      {"no bias", with([](Options& o) { o.bias = false; })},
      {"no bias, kdim", with([](Options& o) { o.bias = false, o.kdim = 5; })},
      {"grouped", with([](Options& o) { o.num_kv_heads = 2; })},
      {"multi-query", with([](Options& o) { o.num_kv_heads = 1; })},
      {"heads of full width", with([](Options& o) { o.head_dim = 12; })},
      {"one narrow head", with([](Options& o) { o.num_heads = 1, o.head_dim = 3; })},
      {"sinks", with([](Options& o) { o.attention = AttentionChoice("sinks"); })},
      {"both extra keys", with([](Options& o) { o.add_bias_kv = o.add_zero_attn = true; })},
      {"all", with([](Options& o) {
         o.kdim = 5, o.vdim = 9, o.num_kv_heads = 2, o.head_dim = 5;
         o.add_bias_kv = o.add_zero_attn = true, o.attention = AttentionChoice("sinks");
       })}};
  for (const auto& [name, options] : cases) {
    CrossLayer layer(options);
    const Tensor q = random_tensor(DType::f32, {2, 3, 12}, 5);
    const Tensor k = random_tensor(DType::f32, {2, 6, layer.attention.options().kdim}, 6);
    const Tensor v = random_tensor(DType::f32, {2, 6, layer.attention.options().vdim}, 7);
    EXPECT_LT(difference(layer, q, k, v, {}, {}), kTolerance) << name;
    const Added causal = [](Index, Index, Index i, Index j) { return j > i ? kLeftOut : 0; };
    EXPECT_LT(difference(layer, q, k, v, {.is_causal = true}, causal), kTolerance) << name;
  }
}

TEST(MultiheadAttention, ASelfAttentionIsThatOfThreeEqualInputs) {
  for (bool extra : {false, true}) {
    CrossLayer layer({.embed_dim = 12, .num_heads = 4, .add_bias_kv = extra, .num_kv_heads = 2});
    const Tensor x = random_tensor(DType::f32, {2, 5, 12}, 5);
    const Tensor packed = layer.self(x), apart = layer(x, x.clone(), x.clone()).out.value();
    EXPECT_LT(largest_difference(packed, apart), 1e-6);
    EXPECT_LT(largest_difference(packed, Plain(layer)(x, x, x, {}).first), kTolerance);
  }
}

// --- Masks ----------------------------------------------------------------------------------------------------------

class Masks : public ::testing::Test {
 protected:
  static constexpr Index kBatch = 2, kHeads = 2, kQueries = 3, kKeys = 5;
  static Options options() { return {.embed_dim = 6, .num_heads = kHeads, .add_bias_kv = true, .add_zero_attn = true}; }
  double difference(const AttentionArguments& arguments, const Added& added) {
    double worst = 0;
    for (const Options& o : {options(), Options{.embed_dim = 6, .num_heads = kHeads}}) {
      CrossLayer layer(o);
      worst = std::max(worst, heed::difference(layer, q_, k_, v_, arguments, added));
    }
    return worst;
  }

  Tensor q_ = random_tensor(DType::f32, {kBatch, kQueries, 6}, 1);
  Tensor k_ = random_tensor(DType::f32, {kBatch, kKeys, 6}, 2);
  Tensor v_ = random_tensor(DType::f32, {kBatch, kKeys, 6}, 3);
  Rng draw_{5};
};

TEST_F(Masks, ATrueLeavesAKeyOut) {
  const Tensor two = random_booleans({kQueries, kKeys}, draw_);
  EXPECT_LT(difference({.attn_mask = two},
                       [&](Index, Index, Index i, Index j) {
                         return two.at<bool>({i, j}) ? kLeftOut : 0;
                       }),
            kTolerance);
  const Tensor three = random_booleans({kBatch * kHeads, kQueries, kKeys}, draw_);
  EXPECT_LT(difference({.attn_mask = three},
                       [&](Index b, Index h, Index i, Index j) {
                         return three.at<bool>({b * kHeads + h, i, j}) ? kLeftOut : 0;
                       }),
            kTolerance);
}

TEST_F(Masks, AFloatIsAddedAndMinusInfinityLeavesAKeyOut) {
  const Tensor two = random_tensor(DType::f32, {kQueries, kKeys}, 8);
  two.at<float>({1, 2}) = two.at<float>({0, 0}) = -std::numeric_limits<float>::infinity();
  EXPECT_LT(difference({.attn_mask = two},
                       [&](Index, Index, Index i, Index j) {
                         return two.at<float>({i, j});
                       }),
            kTolerance);
  const Tensor three = random_tensor(DType::f32, {kBatch * kHeads, kQueries, kKeys}, 9);
  const Tensor padding = random_tensor(DType::f32, {kBatch, kKeys}, 10);
  padding.at<float>({1, 4}) = -std::numeric_limits<float>::infinity();
  EXPECT_LT(difference({.key_padding_mask = padding, .attn_mask = three},
                       [&](Index b, Index h, Index i, Index j) {
                         return three.at<float>({b * kHeads + h, i, j}) + padding.at<float>({b, j});
                       }),
            kTolerance);
}

TEST_F(Masks, AllThatAreGivenIntersect) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{5, 3}, {kBatch});
  const Tensor padding = random_booleans({kBatch, kKeys}, draw_),
               added = random_tensor(DType::f32, {kQueries, kKeys}, 8);
  const AttentionArguments arguments{.mask = Mask::key_lengths(lengths) & Mask::sliding_window(1, {}, Anchor::start),
                                     .key_padding_mask = padding,
                                     .attn_mask = added,
                                     .is_causal = true};
  const auto out = [&](Index b, Index i, Index j) {
    return j > i || j < i - 1 || j >= lengths.at<std::int32_t>({b}) || padding.at<bool>({b, j});
  };
  EXPECT_LT(difference(arguments,
                       [&](Index b, Index, Index i, Index j) {
                         return out(b, i, j) ? kLeftOut : added.at<float>({i, j});
                       }),
            kTolerance);
}

TEST_F(Masks, CausalCountsFromTheStartWhateverTheLengths) {
  CrossLayer layer({.embed_dim = 6, .num_heads = kHeads});
  const Tensor weights = layer(q_, k_, v_, {.is_causal = true, .need_weights = true}).weights;
  for (Index i = 0; i < kQueries; ++i)
    for (Index j = 0; j < kKeys; ++j) EXPECT_EQ(weights.at<float>({0, i, j}) > 0, j <= i) << i << " " << j;
}

TEST_F(Masks, AQueryWithoutKeysGetsTheOutputOfZero) {
  CrossLayer layer({.embed_dim = 6, .num_heads = kHeads});
  const Tensor mask = Tensor::zeros(DType::boolean, {kQueries, kKeys});
  fill(select(mask.view(), 0, 1), 1);
  const Attended attended = layer(q_, k_, v_, {.attn_mask = mask, .need_weights = true});
  EXPECT_TRUE(same_bits(select(select(attended.out.value().view(), 0, 0), 0, 1), layer.parameters["out_proj.bias"]));
  for (Index j = 0; j < kKeys; ++j) EXPECT_EQ(attended.weights.at<float>({1, 1, j}), 0);
}

TEST_F(Masks, OfOtherShapesAndTypesAreRefused) {
  CrossLayer layer({.embed_dim = 6, .num_heads = kHeads});
  const auto refused = [&](const AttentionArguments& arguments) {
    return refusal([&] { layer(q_, k_, v_, arguments); });
  };
  const std::string padding = refused({.key_padding_mask = Tensor::zeros(DType::boolean, {kBatch, kQueries})});
  EXPECT_EQ(
      padding,
      "MultiheadAttention: key_padding_mask [B, Lk] must be boolean or floating and fit B = 2, heads = 2, Lq = 3, "
      "Lk = 5, but is boolean [2, 3]");
  for (const Tensor& mask :
       {Tensor::zeros(DType::boolean, {kKeys, kQueries}), Tensor::zeros(DType::i32, {kQueries, kKeys}),
        Tensor::zeros(DType::boolean, {kBatch, kQueries, kKeys}), Tensor::zeros(DType::f32, {kKeys})}) {
    EXPECT_NE(refused({.attn_mask = mask}).find("attn_mask [Lq, Lk] or [B * heads, Lq, Lk] must be"),
              std::string::npos);
  }
}

// --- Layout, memories, positions ------------------------------------------------------------------------------------

TEST(MultiheadAttention, WithoutBatchFirstEverythingIsTransposed) {
  Options options{.embed_dim = 8, .num_heads = 2, .add_zero_attn = true};
  CrossLayer first(options);
  options.batch_first = false;
  CrossLayer second(options);
  const Tensor q = random_tensor(DType::f32, {3, 4, 8}, 1), k = random_tensor(DType::f32, {3, 6, 8}, 2);
  const auto swapped = [](const Tensor& t) { return Tensor::copy_of(transpose(t.view(), 0, 1)); };
  Rng draw(1);
  const AttentionArguments arguments{.key_padding_mask = random_booleans({3, 6}, draw), .need_weights = true};
  const Attended a = first(q, k, k, arguments), b = second(swapped(q), swapped(k), swapped(k), arguments);
  EXPECT_TRUE(same_bits(a.out, swapped(b.out.value())));
  EXPECT_TRUE(same_bits(a.weights, b.weights));
  const Var projected = second.attention.project_memory(second.context(), Var(swapped(k)));
  const Var memory = second.attention.attend_memory(second.context(), Var(swapped(q)), projected, {});
  EXPECT_TRUE(same_bits(swapped(memory.value()), first(q, k, k).out));
}

TEST(MultiheadAttention, AMemoryProjectedOnceGivesTheSameBits) {
  for (Index kdim : {8, 5}) {
    CrossLayer layer(
        {.embed_dim = 8, .num_heads = 4, .kdim = kdim, .vdim = kdim, .add_bias_kv = true, .num_kv_heads = 2});
    const Tensor x = random_tensor(DType::f32, {2, 3, 8}, 1), m = random_tensor(DType::f32, {2, 6, kdim}, 2);
    const Var memory(m);
    const Var whole = layer.attention.forward(layer.context(), Var(x), memory, memory).out;
    const Var projected = layer.attention.project_memory(layer.context(), memory);
    EXPECT_TRUE(same_bits(layer.attention.attend_memory(layer.context(), Var(x), projected, {}), whole));
  }
}

TEST(MultiheadAttention, GroupedHeadsAreRepeatedKeysAndValues) {
  CrossLayer grouped({.embed_dim = 12, .num_heads = 4, .num_kv_heads = 2}), all({.embed_dim = 12, .num_heads = 4});
  const Index d = 3, queries = 12;
  for (const std::string name : {"in_proj_weight", "in_proj_bias"}) {
    const View from = grouped.parameters[name].value(), to = all.parameters[name].value();
    copy(slice(from, 0, 0, queries), slice(to, 0, 0, queries));
    for (Index part = 0; part < 2; ++part)
      for (Index h = 0; h < 4; ++h) {
        const Index source = queries + part * 2 * d + h / 2 * d, target = queries + part * 4 * d + h * d;
        copy(slice(from, 0, source, source + d), slice(to, 0, target, target + d));
      }
  }
  for (const char* name : {"out_proj.weight", "out_proj.bias"})
    all.parameters[name].set_value(grouped.parameters[name]);
  const Tensor x = random_tensor(DType::f32, {2, 5, 12}, 3);
  EXPECT_LT(largest_difference(grouped.self(x), all.self(x)), 1e-6);
}

TEST(MultiheadAttention, RotaryOutputsDependOnDistancesAlone) {
  CrossLayer layer(
      {.embed_dim = 16, .num_heads = 2, .num_kv_heads = 1, .attention = AttentionChoice("rotary(base=30, width=6)")});
  const Index shift = 3, length = 5;
  const Tensor both = random_tensor(DType::f32, {2, shift + length, 16}, 1);
  const Tensor late = Tensor::copy_of(slice(both.view(), 1, shift, shift + length));
  const Tensor before = Tensor::zeros(DType::boolean, {2, shift + length});
  fill(slice(before.view(), 1, 0, shift), 1);
  const Tensor shifted = layer.self(both, {.key_padding_mask = before}), alone = layer.self(late);
  EXPECT_LT(largest_difference(slice(shifted.view(), 1, shift, shift + length), alone), kTolerance);
  // And on them they do: without positions, the order of the keys would not count.
  const Tensor turned = both.clone();
  copy(slice(both.view(), 1, 0, 1), slice(turned.view(), 1, 1, 2));
  copy(slice(both.view(), 1, 1, 2), slice(turned.view(), 1, 0, 1));
  const Tensor last = Tensor::copy_of(slice(layer(both, both, both).out.value().view(), 1, 7, 8));
  EXPECT_GT(largest_difference(slice(layer(both, turned, turned).out.value().view(), 1, 7, 8), last), 1e-3);
}

TEST(MultiheadAttention, CausalCountsFromTheStartBesideAWindowThatCountsFromTheEnd) {
  CrossLayer layer({.embed_dim = 8, .num_heads = 2, .mask = Mask::sliding_window(1, 1)});
  const Tensor q = random_tensor(DType::f32, {1, 2, 8}, 1), k = random_tensor(DType::f32, {1, 3, 8}, 2);
  const Tensor weights = layer(q, k, k, {.is_causal = true, .need_weights = true}).weights;
  // The queries stand at keys 1 and 2 for the window, and see keys 0 and 0, 1 by the flag.
  const bool seen[2][3] = {{true, false, false}, {false, true, false}};
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(weights.at<float>({0, i, j}) > 0, seen[i][j]) << i << j;
}

TEST(MultiheadAttention, AnObserverSeesTheKeysThatWereGiven) {
  struct Last : AttentionObserver {
    bool wants(const AttentionSite& site) const override { return site.path == "attention"; }
    void on_weights(const AttentionSite&, ConstView weights) override { seen = Tensor::copy_of(weights); }
    Tensor seen;
  } last;
  CrossLayer layer({.embed_dim = 8, .num_heads = 2, .add_bias_kv = true, .add_zero_attn = true});
  const Var x(random_tensor(DType::f32, {1, 4, 8}, 4));
  const Attended attended =
      layer.attention.forward(layer.context(&last), x, x, x, {.need_weights = true, .average_attn_weights = false});
  EXPECT_EQ(attended.weights.dim(3), 6);
  EXPECT_TRUE(same_bits(last.seen, slice(attended.weights.view(), 3, 0, 4)));
}

// --- Gradients ------------------------------------------------------------------------------------------------------

// Of all parameters and of query, key and value, in double. With one input for all three, they are one.
void check_gradients(const Options& options, const AttentionArguments& arguments, const std::vector<Var>& inputs) {
  CrossLayer layer(options);
  for (const auto& [name, var] : layer.list) var.convert(DType::f64);
  const auto forward = [&](Tape* tape) {
    DropoutCalls dropout({.seed = 3});
    const Context context{.tape = tape, .workspace = layer.workspace, .dropout = &dropout};
    return layer.attention.forward(context, inputs[0], inputs[inputs.size() / 2], inputs.back(), arguments).out;
  };
  for (const Var& input : inputs) input.clear_grad();
  Tape tape;
  const Var y = forward(&tape);
  const Tensor weights = random_tensor(DType::f64, {y.dim(0), y.dim(1), y.dim(2)}, 99);
  y.add_grad(weights);
  tape.backward();
  const auto loss = [&] { return testing::weighted_sum(forward(nullptr), weights); };
  for (const auto& [name, var] : layer.list) {
    EXPECT_LT(testing::gradient_error(loss, var.value(), var.grad().view()), 2e-7) << name;
  }
  for (const Var& input : inputs) EXPECT_LT(testing::gradient_error(loss, input.value(), input.grad().view()), 2e-7);
}

Var input(std::initializer_list<Index> shape, std::uint64_t seed) {
  return Var::parameter(random_tensor(DType::f64, shape, seed));
}

TEST(MultiheadAttention, GradientsAgreeWithFiniteDifferences) {
  Rng draw(3);
  const AttentionArguments masks{.key_padding_mask = random_booleans({2, 4}, draw),
                                 .attn_mask = random_tensor(DType::f64, {3, 4}, 5)};
  const Options extras{.embed_dim = 6,
                       .num_heads = 2,
                       .add_bias_kv = true,
                       .add_zero_attn = true,
                       .dropout = 0.3,
                       .attention = AttentionChoice("sinks")};
  check_gradients(extras, masks, {input({2, 3, 6}, 1), input({2, 4, 6}, 2), input({2, 4, 6}, 3)});
  check_gradients(extras, masks, {input({2, 3, 6}, 1), input({2, 4, 6}, 2)});
  check_gradients({.embed_dim = 6,
                   .num_heads = 4,
                   .kdim = 5,
                   .vdim = 3,
                   .num_kv_heads = 2,
                   .head_dim = 4,
                   .attention = AttentionChoice("rotary")},
                  masks, {input({2, 3, 6}, 1), input({2, 4, 5}, 2), input({2, 4, 3}, 3)});
  for (bool batch_first : {false, true}) {
    check_gradients({.embed_dim = 6,
                     .num_heads = 2,
                     .batch_first = batch_first,
                     .dropout = 0.3,
                     .attention = AttentionChoice("rotary(width=2)")},
                    {.is_causal = true}, {input({2, 3, 6}, 1)});
  }
  check_gradients({.embed_dim = 6, .num_heads = 2, .num_kv_heads = 1, .attention = AttentionChoice("elu")},
                  {.is_causal = true}, {input({2, 4, 6}, 1)});
  check_gradients({.embed_dim = 6, .num_heads = 2, .mask = Mask::strided({.stride = 2})}, {.is_causal = true},
                  {input({2, 5, 6}, 1)});
}

// --- Parameters -----------------------------------------------------------------------------------------------------

std::string shapes(const CrossLayer& layer) {
  std::string text;
  for (const auto& [name, var] : layer.list) text += name + " " + describe(var.value().view()) + "\n";
  return text;
}

TEST(MultiheadAttention, HasPyTorchsStateDict) {
  EXPECT_EQ(shapes(CrossLayer({.embed_dim = 8, .num_heads = 2, .add_bias_kv = true})),
            "in_proj_weight f32 [24, 8]\nin_proj_bias f32 [24]\nbias_k f32 [1, 1, 8]\nbias_v f32 [1, 1, 8]\n"
            "out_proj.weight f32 [8, 8]\nout_proj.bias f32 [8]\n");
  EXPECT_EQ(shapes(CrossLayer({.embed_dim = 8, .num_heads = 2, .kdim = 5, .vdim = 6})),
            "q_proj_weight f32 [8, 8]\nk_proj_weight f32 [8, 5]\nv_proj_weight f32 [8, 6]\nin_proj_bias f32 [24]\n"
            "out_proj.weight f32 [8, 8]\nout_proj.bias f32 [8]\n");
  EXPECT_EQ(shapes(CrossLayer({.embed_dim = 8,
                               .num_heads = 4,
                               .bias = false,
                               .num_kv_heads = 1,
                               .head_dim = 8,
                               .attention = AttentionChoice("sinks")})),
            "in_proj_weight f32 [48, 8]\nsinks f32 [4]\nout_proj.weight f32 [8, 32]\n");
}

TEST(MultiheadAttention, AStateDictComesBackFromSafetensors) {
  const Options options{.embed_dim = 8, .num_heads = 2, .kdim = 5, .vdim = 6, .add_bias_kv = true};
  CrossLayer saved(options, 1), loaded(options, 2);
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "multihead_attention.safetensors";
  std::map<std::string, ConstView> tensors;
  for (const auto& [name, var] : saved.list) tensors[name] = var.value().view();
  write_safetensors(file, tensors, {});
  const std::map<std::string, Tensor> read = read_safetensors(file);
  ASSERT_EQ(read.size(), loaded.list.size());
  for (const auto& [name, var] : loaded.list) var.set_value(read.at(name).view());
  const Tensor q = random_tensor(DType::f32, {2, 3, 8}, 1), k = random_tensor(DType::f32, {2, 4, 5}, 2),
               v = random_tensor(DType::f32, {2, 4, 6}, 3);
  EXPECT_TRUE(same_bits(loaded(q, k, v).out, saved(q, k, v).out));
  EXPECT_NE(refusal([&] { loaded.parameters["k_proj_weight"].set_value(read.at("v_proj_weight").view()); }),
            "no error");
}

TEST(MultiheadAttention, RefusesOptionsAndInputsThatMakeNoSense) {
  const auto refused = [](const Options& options) { return refusal([&] { CrossLayer layer(options); }) != "no error"; };
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 3}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 0}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .num_kv_heads = 3}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .kdim = -1}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .dropout = 1}));
  EXPECT_TRUE(refused({.embed_dim = 8, .num_heads = 4, .attention = AttentionChoice("rotary(width=4)")}));
  EXPECT_FALSE(refused({.embed_dim = 8, .num_heads = 3, .head_dim = 4}));
  CrossLayer layer({.embed_dim = 8, .num_heads = 4, .kdim = 5});
  const Tensor eight = Tensor::zeros(DType::f32, {2, 3, 8}), five = Tensor::zeros(DType::f32, {2, 3, 5});
  EXPECT_EQ(refusal([&] { layer(eight, five, eight); }), "no error");
  EXPECT_EQ(refusal([&] { layer(eight, eight, eight); }),
            "MultiheadAttention: needs query, key and value [B, L, E] of E = 8, 5, 8, but they are f32 [2, 3, 8], "
            "f32 [2, 3, 8], f32 [2, 3, 8]");
  EXPECT_NE(refusal([&] { layer.attention.project_memory(layer.context(), Var(five)); }), "no error");
  EXPECT_NE(refusal([&] {
              const auto memory = layer.attention.make_memory(DType::f32);
              memory->admit(2);
              layer.attention.step(layer.context(), Var(eight), *memory);
            }),
            "no error");
}

}  // namespace
}  // namespace heed
