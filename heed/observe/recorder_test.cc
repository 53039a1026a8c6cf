#include "heed/observe/recorder.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

constexpr AttentionSite kEncoder{"encoder.layers.0.self_attn", AttentionKind::encoder};
constexpr AttentionSite kDecoder{"decoder.layers.0.self_attn", AttentionKind::decoder};
constexpr AttentionSite kCross{"decoder.layers.0.multihead_attn", AttentionKind::cross};

// Weight (b, h, i, j) is 1000 b + 100 h + 10 i + j, with i counted from `first_query`.
Tensor numbered(Index batch, Index heads, Index queries, Index keys, Index first_query = 0) {
  const Tensor x = Tensor::empty(DType::f32, {batch, heads, queries, keys});
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < queries; ++i)
        for (Index j = 0; j < keys; ++j)
          x.at<float>({b, h, i, j}) = static_cast<float>(1000 * b + 100 * h + 10 * (first_query + i) + j);
  return x;
}

TEST(AttentionRecorder, KeepsOneRowOfTheBatchCutToItsLengths) {
  AttentionRecorder recorder({.row = 1, .source_length = 2, .target_length = 3});
  recorder.on_weights(kEncoder, numbered(2, 2, 4, 4));
  recorder.on_weights(kDecoder, numbered(2, 1, 5, 5));
  recorder.on_weights(kCross, numbered(2, 1, 5, 4));
  const std::vector<AttentionTrace::Map> maps = recorder.take_maps();
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0], (AttentionTrace::Map{"encoder.layers.0.self_attn",
                                          0,
                                          AttentionKind::encoder,
                                          2,
                                          2,
                                          2,
                                          {1000, 1001, 1010, 1011, 1100, 1101, 1110, 1111}}));
  EXPECT_EQ(maps[1].weights, (std::vector<float>{1000, 1001, 1002, 1010, 1011, 1012, 1020, 1021, 1022}));
  EXPECT_EQ(maps[2].weights, (std::vector<float>{1000, 1001, 1010, 1011, 1020, 1021}));
  EXPECT_TRUE(recorder.take_maps().empty());
}

TEST(AttentionRecorder, ReadsStridedWeights) {
  AttentionRecorder recorder({.row = 0, .source_length = 2, .target_length = 2});
  recorder.on_weights(kCross, transpose(numbered(1, 1, 2, 2).view(), 2, 3));
  EXPECT_EQ(recorder.take_maps()[0].weights, (std::vector<float>{0, 10, 1, 11}));
}

TEST(AttentionRecorder, StepsGiveTheSameMapsAsOneCall) {
  AttentionRecorder whole({.row = 0, .source_length = 2, .target_length = 3}), steps = whole;
  Tensor causal = numbered(1, 2, 3, 3);
  for (Index h = 0; h < 2; ++h)
    for (Index i = 0; i < 3; ++i)
      for (Index j = i + 1; j < 3; ++j) causal.at<float>({0, h, i, j}) = 0;
  whole.on_weights(kDecoder, causal);
  whole.on_weights(kCross, numbered(1, 2, 3, 2));
  for (Index step = 0; step < 5; ++step) {  // the batch's other sentences go on for two steps more
    steps.on_weights(kDecoder, numbered(1, 2, 1, step + 1, step));
    steps.on_weights(kCross, numbered(1, 2, 1, 2, step));
  }
  EXPECT_EQ(steps.take_maps(), whole.take_maps());
}

TEST(AttentionRecorder, WantsWhatWasChosen) {
  EXPECT_TRUE(AttentionRecorder({}).wants(kEncoder));
  const AttentionRecorder cross({}, {}, [](const AttentionSite& site) { return site.kind == AttentionKind::cross; });
  EXPECT_TRUE(cross.wants(kCross));
  EXPECT_FALSE(cross.wants(kDecoder));
}

TEST(AttentionRecorder, MapsPassTheTracesValidation) {
  AttentionTrace trace;
  trace.source.tokens = {"a", "b"};
  trace.decoder.tokens = {"<s>", "c", "d"};
  trace.target.tokens = {"c", "d", "e"};
  AttentionRecorder recorder({.row = 0, .source_length = 2, .target_length = 3});
  recorder.on_weights(kCross, numbered(1, 4, 3, 3));
  trace.maps = recorder.take_maps();
  EXPECT_EQ(refusal([&] { validate(trace, "t"); }), "no error");
}

TEST(AttentionRecorder, ScoresAreThoseOfTheSentence) {
  AttentionRecorder recorder({.row = 1, .source_length = 2, .target_length = 3}, {.scores = true});
  EXPECT_TRUE(recorder.wants_scores(kCross));
  EXPECT_FALSE(AttentionRecorder({}).wants_scores(kCross));
  recorder.on_scores(kCross, {numbered(2, 2, 5, 4), numbered(2, 1, 4, 4), 0.5, numbered(2, 2, 5, 4)});
  recorder.on_weights(kCross, numbered(2, 2, 5, 4));
  const AttentionTrace::Map map = recorder.take_maps().at(0);
  EXPECT_EQ(map.q.shape, (std::vector<Index>{2, 3, 4}));
  EXPECT_EQ(map.k.shape, (std::vector<Index>{1, 2, 4}));
  EXPECT_EQ(map.bias.shape, (std::vector<Index>{2, 3, 2}));
  EXPECT_EQ(map.bias.values, map.weights);  // both are numbered
  EXPECT_EQ(map.scale, 0.5);
}

TEST(AttentionRecorder, ABiasThatRefusesAKeyIsAFiniteNumber) {
  AttentionRecorder recorder({.row = 0, .source_length = 2, .target_length = 1}, {.scores = true});
  const Tensor bias = numbered(1, 1, 1, 2);
  bias.at<float>({0, 0, 0, 1}) = -std::numeric_limits<float>::infinity();
  recorder.on_scores(kCross, {numbered(1, 1, 1, 2), numbered(1, 1, 2, 2), 1, bias});
  recorder.on_weights(kCross, numbered(1, 1, 1, 2));
  EXPECT_EQ(recorder.take_maps()[0].bias.values, (std::vector<float>{0, std::numeric_limits<float>::lowest()}));
}

TEST(AttentionRecorder, ScoresOfStepsAreThoseOfTheWhole) {
  AttentionRecorder whole({.row = 0, .source_length = 2, .target_length = 3}, {.scores = true}), steps = whole;
  whole.on_scores(kCross, {numbered(1, 2, 3, 4), numbered(1, 2, 2, 4)});
  whole.on_weights(kCross, numbered(1, 2, 3, 2));
  for (Index step = 0; step < 4; ++step) {
    steps.on_scores(kCross, {numbered(1, 2, 1, 4, step), numbered(1, 2, 2, 4)});
    steps.on_weights(kCross, numbered(1, 2, 1, 2, step));
  }
  EXPECT_EQ(steps.take_maps(), whole.take_maps());
}

TEST(AttentionRecorder, ScoresThatDoNotGoOnAsTheyBeganAreRefused) {
  AttentionRecorder recorder({.row = 0, .source_length = 2, .target_length = 3}, {.scores = true});
  const auto shown = [&](const AttentionSite& site, const ConstView& q, const ConstView& k,
                         const ConstView& bias = {}) {
    return refusal([&] { recorder.on_scores(site, {q, k, 1, bias}); });
  };
  const auto site = [](AttentionKind kind) { return AttentionSite{kCross.path, kind}; };
  const Tensor q = numbered(1, 2, 1, 4), k = numbered(1, 2, 2, 4), bias = numbered(1, 2, 1, 2);
  EXPECT_EQ(shown(kCross, q, k, bias), "no error");
  recorder.on_weights(kCross, numbered(1, 2, 1, 2));
  EXPECT_EQ(shown(kCross, numbered(1, 2, 1, 64), numbered(1, 2, 2, 64)),
            "AttentionRecorder: decoder.layers.0.multihead_attn: scores of 2 heads over 2 keys are now of "
            "f32 [1, 2, 1, 64] and f32 [1, 2, 2, 64]");
  EXPECT_NE(shown(kCross, q, numbered(1, 1, 2, 4)), "no error");  // KV heads
  EXPECT_NE(shown(kCross, q, numbered(1, 2, 2, 3)), "no error");  // widths
  EXPECT_NE(shown(kCross, numbered(1, 3, 1, 4), k), "no error");
  EXPECT_NE(shown(site(AttentionKind::encoder), q, k), "no error");
  for (const Tensor& other : {numbered(1, 1, 1, 2), numbered(1, 2, 1, 1), Tensor::zeros(DType::f64, {1, 2, 1, 2}),
                              Tensor::zeros(DType::f32, {2, 1, 2})}) {
    EXPECT_NE(shown(kCross, q, k, other), "no error") << describe(other);
  }
  EXPECT_EQ(shown(kCross, q, k, bias), "no error");
}

TEST(AttentionRecorder, EmbeddingsAreThoseOfTheSentence) {
  AttentionRecorder recorder({.row = 1, .source_length = 2, .target_length = 3}, {.embeddings = true});
  const Tensor before = numbered(1, 2, 4, 3), after = numbered(1, 2, 4, 3, 7);
  recorder.on_embeddings(EmbeddedSide::source, select(before.view(), 0, 0), select(after.view(), 0, 0));
  const AttentionTrace::Embeddings source = recorder.take_embeddings(EmbeddedSide::source);
  EXPECT_EQ(source.before.shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(source.before.values[0], before.at<float>({0, 1, 0, 0}));
  EXPECT_EQ(source.after.values[5], after.at<float>({0, 1, 1, 2}));
  EXPECT_TRUE(recorder.take_embeddings(EmbeddedSide::decoder).empty());
  EXPECT_TRUE(recorder.take_embeddings(EmbeddedSide::source).empty());
  EXPECT_THROW(recorder.on_embeddings(EmbeddedSide::source, before.view(), after.view()), Error);
}

TEST(AttentionRecorder, ErrorsNameTheSite) {
  AttentionRecorder recorder({.row = 1, .source_length = 2, .target_length = 3});
  EXPECT_EQ(refusal([&] { recorder.on_weights(kCross, numbered(1, 1, 3, 2)); }),
            "AttentionRecorder: decoder.layers.0.multihead_attn: weights must be f32 [B, H, Lq, Lk] with row 1 in the "
            "batch, but "
            "are f32 [1, 1, 3, 2]");
  EXPECT_THROW(recorder.on_weights(kCross, Tensor::zeros(DType::f64, {2, 1, 3, 2})), Error);
  EXPECT_THROW(recorder.on_weights(kCross, Tensor::zeros(DType::f32, {2, 3, 2})), Error);
  EXPECT_THROW(recorder.on_weights(kCross, ConstView()), Error);
  EXPECT_THROW(recorder.on_weights(kCross, numbered(2, 1, 3, 1)), Error);  // the sentence has two keys
  EXPECT_THROW(AttentionRecorder({.row = -1}), Error);

  AttentionRecorder heads({.row = 0, .source_length = 2, .target_length = 3});
  heads.on_weights(kCross, numbered(1, 2, 1, 2));
  EXPECT_EQ(refusal([&] { heads.on_weights(kCross, numbered(1, 3, 1, 2)); }),
            "AttentionRecorder: decoder.layers.0.multihead_attn: had 2 heads, and now weights are f32 [1, 3, 1, 2]");
  EXPECT_EQ(refusal([&] { heads.take_maps(); }),
            "AttentionRecorder: decoder.layers.0.multihead_attn: was shown 1 of the sentence's 3 queries");
}

}  // namespace
}  // namespace heed
