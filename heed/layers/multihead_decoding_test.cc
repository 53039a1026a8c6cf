#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using Options = MultiheadAttentionOptions;

constexpr Index kModelWidth = 16;

struct DecodingLayer {
  explicit DecodingLayer(const Options& options)
      : attention(ParameterScope(drawn) / "attention", AttentionKind::decoder, options) {
    std::uint64_t seed = 1;
    for (const auto& [name, var] : drawn.list()) {
      if (var.rank() == 1) var.set_value(random_tensor(DType::f32, {var.dim(0)}, seed++, 0.5));
    }
  }
  Context context(AttentionObserver* observer = nullptr) { return Context::inference(workspace, observer); }
  // x [B, L, kModelWidth], whatever the layer's own layout is.
  Tensor step(const Tensor& x, DecodingMemory& memory, AttentionObserver* observer = nullptr) {
    const auto turned = [&](const Tensor& tensor) {
      return attention.options().batch_first ? tensor : Tensor::copy_of(transpose(tensor.view(), 0, 1));
    };
    return turned(attention.step(context(observer), Var(turned(x)), memory).value());
  }
  std::unique_ptr<DecodingMemory> memory(Index rows) const {
    auto memory = attention.make_memory(DType::f32);
    memory->admit(rows);
    return memory;
  }

  DrawnParameters drawn{Rng(1)};
  Workspace workspace;
  MultiheadAttention attention;
};

std::map<std::string, Options> decoding_layers() {
  const auto with = [](auto change) {
    Options options{.embed_dim = kModelWidth, .num_heads = 4};
    change(options);
    return options;
  };
  return {{"plain", with([](Options&) {})},
          {"grouped, wide", with([](Options& o) { o.num_kv_heads = 2, o.head_dim = 8; })},
          {"rotary", with([](Options& o) { o.attention = AttentionChoice("rotary"); })},
          {"sinks", with([](Options& o) { o.attention = AttentionChoice("sinks"); })},
          {"window", with([](Options& o) { o.mask = Mask::sliding_window(3, 3); })},
          {"strided", with([](Options& o) { o.mask = Mask::strided({.stride = 3}); })},
          {"window from the start", with([](Options& o) { o.mask = Mask::sliding_window(2, 0, Anchor::start); })},
          {"fixed", with([](Options& o) { o.mask = Mask::fixed({.block = 4, .summary = 1}); })},
          {"linear", with([](Options& o) { o.attention = AttentionChoice("elu"); })},
          {"features under softmax", with([](Options& o) { o.attention = AttentionChoice("elu + softmax"); })},
          {"linear, window",
           with([](Options& o) { o.attention = AttentionChoice("elu"), o.mask = Mask::sliding_window(3, 0); })},
          {"extra keys", with([](Options& o) { o.add_bias_kv = o.add_zero_attn = true; })},
          {"extra keys, window",
           with([](Options& o) { o.add_bias_kv = o.add_zero_attn = true, o.mask = Mask::sliding_window(3, 0); })},
          {"length first", with([](Options& o) { o.batch_first = false; })}};
}

Tensor token(const Tensor& x, Index t) { return Tensor::copy_of(slice(x.view(), 1, t, t + 1)); }

// 40 tokens are more than a page.
constexpr Index kLength = 40;

TEST(MultiheadDecoding, SteppingGivesTheBitsOfTheWholePass) {
  for (const auto& [name, options] : decoding_layers()) {
    DecodingLayer layer(options);
    const Tensor x = random_tensor(DType::f32, {2, kLength, kModelWidth}, 4);
    const auto turned = [&, &options = options](const Tensor& tensor) {  // between [B, L, E] and the layer's layout
      return options.batch_first ? tensor : Tensor::copy_of(transpose(tensor.view(), 0, 1));
    };
    const Var whole = layer.attention.forward(layer.context(), Var(turned(x)), Mask::causal(options.mask.anchor));
    const Tensor expected = turned(whole.value());
    const auto memory = layer.memory(2);
    for (Index t = 0; t < kLength; ++t) {
      const Tensor y = layer.step(token(x, t), *memory);
      // The extra keys stand in other columns, and linear attention's state is summed up in the order of the tokens.
      if (options.add_bias_kv || name.starts_with("linear")) {
        EXPECT_LT(largest_difference(y, token(expected, t)), 2e-6) << name << " " << t;
      } else {
        EXPECT_TRUE(same_bits(y, token(expected, t))) << name << " " << t;
      }
    }
  }
}

TEST(MultiheadDecoding, ARowThatEntersLaterHasTheBitsThatItHasAlone) {
  for (const auto& [name, options] : decoding_layers()) {
    DecodingLayer layer(options);
    const Tensor x = random_tensor(DType::f32, {3, kLength, kModelWidth}, 4);
    const auto together = layer.memory(1), alone = layer.memory(1);
    for (Index t = 0; t < 5; ++t) layer.step(token(x.rows(0, 1), t), *together);
    together->admit(2);
    for (Index t = 5; t < kLength; ++t) {
      // The first row reads its token t, and the others begin.
      const Tensor tokens = Tensor::empty(DType::f32, {3, 1, kModelWidth});
      for (Index row = 0; row < 3; ++row) {
        copy(token(x.rows(row, row + 1), row == 0 ? t : t - 5), tokens.rows(row, row + 1));
      }
      const Tensor y = layer.step(tokens, *together);
      EXPECT_TRUE(same_bits(y.rows(2, 3), layer.step(token(x.rows(2, 3), t - 5), *alone))) << name << " " << t;
    }
    EXPECT_EQ(together->length(0), kLength);
    EXPECT_EQ(together->length(2), kLength - 5);
  }
}

TEST(MultiheadDecoding, APromptThatIsReadAtOnceIsThatReadTokenByToken) {
  for (const auto& [name, options] : decoding_layers()) {
    if (!options.batch_first) continue;
    DecodingLayer layer(options);
    const Tensor x = random_tensor(DType::f32, {2, kLength, kModelWidth}, 4);
    const std::vector<Index> lengths{kLength - 1, 9};
    const auto prompted = layer.memory(0);
    layer.attention.admit(layer.context(), Var(Tensor::copy_of(slice(x.view(), 1, 0, kLength - 1))), lengths,
                          *prompted);
    Tensor next = Tensor::empty(DType::f32, {2, 1, kModelWidth}), expected = Tensor::empty_like(next);
    for (Index row = 0; row < 2; ++row) {
      const auto alone = layer.memory(1);
      for (Index t = 0; t <= lengths[row]; ++t) {
        copy(layer.step(token(x.rows(row, row + 1), t), *alone), expected.rows(row, row + 1));
      }
      copy(token(x.rows(row, row + 1), lengths[row]), next.rows(row, row + 1));
    }
    EXPECT_TRUE(same_bits(layer.step(next, *prompted), expected)) << name;
    EXPECT_EQ(prompted->length(1), 10) << name;
  }
}

TEST(MultiheadDecoding, TokensThatAreReadTogetherAreThoseReadOneByOne) {
  for (const auto& [name, options] : decoding_layers()) {
    DecodingLayer layer(options);
    const Tensor x = random_tensor(DType::f32, {2, kLength, kModelWidth}, 4);
    const auto memory = layer.memory(2), one_by_one = layer.memory(2);
    if (!memory->can_go_back()) {
      EXPECT_EQ(refusal([&] { layer.step(x, *memory); }),
                "MultiheadAttention::step: needs one token of each of the memory's 2 rows, but x is f32 [2, 40, 16]");
      continue;
    }
    const auto tokens = [&](Index begin, Index end) { return Tensor::copy_of(slice(x.view(), 1, begin, end)); };
    const Tensor expected = Tensor::empty_like(x);
    for (Index t = 0; t < kLength; ++t) {
      copy(layer.step(token(x, t), *one_by_one), slice(expected.view(), 1, t, t + 1));
    }
    const auto expect_tokens = [&](Index begin, Index end) {
      const Tensor y = layer.step(tokens(begin, end), *memory);
      const Tensor wanted = Tensor::copy_of(slice(expected.view(), 1, begin, end));
      if (options.add_bias_kv) {  // the extra keys stand behind the last token's
        EXPECT_LT(largest_difference(y, wanted), 2e-6) << name << " " << begin;
      } else {
        EXPECT_TRUE(same_bits(y, wanted)) << name << " " << begin;
      }
      EXPECT_EQ(memory->length(1), end) << name;
    };
    expect_tokens(0, 3), expect_tokens(3, 35), expect_tokens(35, kLength);
    for (const Index kept : {33, 5, 0}) {
      memory->go_back(kept);
      expect_tokens(kept, kLength);
    }
  }
}

TEST(MultiheadDecoding, SelectingRowsGoesOnFromEach) {
  for (const auto& [name, options] : decoding_layers()) {
    DecodingLayer layer(options);
    const Tensor x = random_tensor(DType::f32, {2, 4, kModelWidth}, 4),
                 y = random_tensor(DType::f32, {3, 1, kModelWidth}, 5);
    const auto memory = layer.memory(2), straight = layer.memory(2);
    for (Index t = 0; t < 4; ++t) layer.step(token(x, t), *memory), layer.step(token(x, t), *straight);
    memory->select_rows(std::vector<Index>{1, 0, 1});
    const Tensor forked = layer.step(y, *memory);
    EXPECT_EQ(memory->rows(), 3);
    const Tensor rows = Tensor::empty(DType::f32, {2, 1, kModelWidth});
    copy(y.rows(1, 2), rows.rows(0, 1)), copy(y.rows(2, 3), rows.rows(1, 2));
    EXPECT_TRUE(same_bits(forked.rows(1, 3), layer.step(rows, *straight))) << name;
    memory->select_rows(std::vector<Index>{});
    EXPECT_EQ(memory->rows(), 0);
    memory->admit(1);
    EXPECT_EQ(memory->length(0), 0);
  }
}

TEST(MultiheadDecoding, LinearAttentionKeepsSumsWhereItSeesEveryToken) {
  const auto kept = [](const char* name) {
    return DecodingLayer(decoding_layers().at(name)).attention.make_memory(DType::f32);
  };
  EXPECT_NE(dynamic_cast<LinearMemory*>(kept("linear").get()), nullptr);
  for (const char* name : {"linear, window", "features under softmax", "plain"}) {
    EXPECT_NE(dynamic_cast<PagedMemory*>(kept(name).get()), nullptr) << name;
  }
}

struct DecodingWeights : AttentionObserver {
  bool wants(const AttentionSite& site) const override { return site.path == "attention"; }
  void on_weights(const AttentionSite&, ConstView weights) override { seen = Tensor::copy_of(weights); }
  Tensor seen;
};

TEST(MultiheadDecoding, AnObserverOfAStepSeesTheTokensThatWereRead) {
  DecodingLayer layer(decoding_layers().at("extra keys"));
  DecodingWeights observer;
  const Tensor x = random_tensor(DType::f32, {2, 4, kModelWidth}, 4);
  const auto memory = layer.memory(1);
  layer.step(token(x.rows(0, 1), 0), *memory);
  layer.step(token(x.rows(0, 1), 1), *memory);
  memory->admit(1);
  layer.step(token(x, 2), *memory, &observer);
  ASSERT_TRUE(has_shape(observer.seen.view(), {2, 4, 1, 3}));
  for (Index h = 0; h < 4; ++h) {
    EXPECT_GT(observer.seen.at<float>({0, h, 0, 2}), 0);
    EXPECT_GT(observer.seen.at<float>({1, h, 0, 0}), 0);
    EXPECT_EQ(observer.seen.at<float>({1, h, 0, 1}), 0);
    EXPECT_EQ(observer.seen.at<float>({1, h, 0, 2}), 0);
  }
}

TEST(MultiheadDecoding, AKeptMemoryIsTheOneThatIsGivenWhole) {
  DecodingLayer layer({.embed_dim = kModelWidth, .num_heads = 4, .num_kv_heads = 2});
  const Var x(random_tensor(DType::f32, {2, 3, kModelWidth}, 4)),
      source(random_tensor(DType::f32, {2, 37, kModelWidth}, 5));
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{37, 5}, {2});
  PagedMemory kept = layer.attention.make_source_memory(DType::f32);
  layer.attention.keep_memory(layer.context(), source, std::vector<Index>{37, 5}, kept);
  const Var expected = layer.attention.attend_memory(
      layer.context(), x, layer.attention.project_memory(layer.context(), source), Mask::key_lengths(lengths));
  EXPECT_TRUE(same_bits(layer.attention.attend_kept(layer.context(), x, kept), expected));
}

TEST(MultiheadDecoding, RefusesWhatAStepCannotSee) {
  const Tensor x = random_tensor(DType::f32, {1, 1, kModelWidth}, 1);
  Options by_rows{.embed_dim = kModelWidth, .num_heads = 2};
  by_rows.mask = Mask::predicate([](Index, Index, Index i, Index j) { return i - j < 3; });
  DecodingLayer layer(by_rows);
  EXPECT_EQ(refusal([&] { layer.step(x, *layer.memory(1)); }),
            "MultiheadAttention::step: the layer's mask goes by rows, which a step has not");
  EXPECT_EQ(refusal([&] { layer.step(x, *layer.memory(2)); }),
            "MultiheadAttention::step: needs tokens of each of the memory's 2 rows, but x is f32 [1, 1, 16]");
  Tape tape;
  EXPECT_EQ(
      refusal([&] { layer.attention.step({.tape = &tape, .workspace = layer.workspace}, Var(x), *layer.memory(1)); }),
      "MultiheadAttention::step: a memory has no gradient, so the context must have no tape");
  DecodingLayer extra(decoding_layers().at("extra keys"));
  PagedMemory kept = extra.attention.make_source_memory(DType::f32);
  EXPECT_EQ(refusal([&] { extra.attention.keep_memory(extra.context(), Var(x), std::vector<Index>{1}, kept); }),
            "MultiheadAttention::keep_memory: not with extra keys or a mask that counts positions");
}

}  // namespace
}  // namespace heed
