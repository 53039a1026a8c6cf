#include "heed/observe/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "heed/observe/trace_sample.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

constexpr Index kHuge = std::numeric_limits<Index>::max();

std::string refused_trace(const std::function<void(AttentionTrace&)>& spoil) {
  AttentionTrace trace = sample_trace();
  spoil(trace);
  return testing::refusal([&] { validate(trace, "t"); });
}

TEST(AttentionTrace, WeightReadsHeadQueryKey) {
  AttentionTrace::Map map = sample_trace().maps[2];
  map.weights[(1 * 3 + 2) * 2 + 1] = 0.25f;
  EXPECT_EQ(map.weight(1, 2, 1), 0.25f);
}

TEST(AttentionTrace, AMapsAxesAreTheTokensOfItsKind) {
  const AttentionTrace trace = sample_trace();
  for (const AttentionTrace::Map& map : trace.maps) {
    EXPECT_EQ(trace.query_side(map.kind).size(), map.queries) << map.path;
    EXPECT_EQ(trace.key_side(map.kind).size(), map.keys) << map.path;
  }
  EXPECT_EQ(&trace.query_side(AttentionKind::encoder), &trace.source);
  EXPECT_EQ(&trace.query_side(AttentionKind::decoder), &trace.decoder);
  EXPECT_EQ(&trace.key_side(AttentionKind::decoder), &trace.decoder);
  EXPECT_EQ(&trace.query_side(AttentionKind::cross), &trace.target);
  EXPECT_EQ(&trace.key_side(AttentionKind::cross), &trace.source);
}

TEST(AttentionTrace, WordsAreCountedByTheLargestNumber) {
  EXPECT_EQ(TraceSide().word_count(), 0);
  TraceSide side;
  side.words = {-1, -1};
  EXPECT_EQ(side.word_count(), 0);
  side.words = {-1, 0, 0, 1, -1};
  EXPECT_EQ(side.word_count(), 2);
}

TEST(AttentionTrace, WithoutADecodersInputOrATargetTheRestIsStillATrace) {
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t = {}; }), "no error");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t = {};
              t.source.tokens = {"a", "b"}, t.target.tokens = {"c"};
              t.maps = {{"alignment", 0, AttentionKind::cross, 1, 1, 2, {0.5f, 0.5f}}};
            }),
            "no error");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t = {};
              t.decoder.tokens = {"a"};
              t.maps = {{"h.0.attn", 0, AttentionKind::decoder, 1, 1, 1, {1}}};
            }),
            "no error");
}

TEST(AttentionTrace, ValidateNamesTheMapsFieldAndTheRule) {
  EXPECT_EQ(refused_trace([](AttentionTrace&) {}), "no error");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].weights.pop_back(); }),
            "t.maps[0].weights: 1 heads x 2 queries x 2 keys need 4 numbers, but there are 3");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { std::swap(t.maps[2].queries, t.maps[2].keys); }),
            "t.maps[2].weights: a map of kind cross must be 3 queries x 2 keys, one for each token, but is 2 x 3");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].weights[2] = std::nanf(""); }),
            "t.maps[0].weights: number 2 must be finite, but is nan");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].heads = 0; }),
            "t.maps[0].heads: must be from 1 to 1024, but is 0");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].heads = kHuge; }),
            "t.maps[0].heads: must be from 1 to 1024, but is 9223372036854775807");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].layer = -1; }),
            "t.maps[0].layer: must be from 0 to 65535, but is -1");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[1].path = t.maps[0].path; }),
            "t.maps[1].path: another map has it too: encoder.layers.0.self_attn");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].path.clear(); }), "t.maps[0].path: must not be empty");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].kind = static_cast<AttentionKind>(9); }),
            "t.maps[0].kind: there is no kind 9");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source = {}; }),
            "t.maps[0].kind: encoder attention needs tokens on both sides, but there are 0 and 0");
}

TEST(AttentionTrace, QueriesAndKeysHaveTheirHeadsAndOneWidth) {
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[2].k = {}; }),
            "t.maps[2].k: must be there where q is, and only there");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[2].q = {}; }),
            "t.maps[2].q: must be there where k is, and only there");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[0].scale = 1; }),
            "t.maps[0].scale: is of q and k, which are not there");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.maps[2].q.shape = {3, 2, 2};
            }),
            "t.maps[2].q: must be [heads, queries, d], here [2, 3, 1 to 65536], but is [3, 2, 2]");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.maps[2].q.shape = {2, 3, kHuge};
            }),
            "t.maps[2].q: must be [heads, queries, d], here [2, 3, 1 to 65536], but is [2, 3, 9223372036854775807]");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.maps[2].k.shape = {3, 2, 2};
            }),
            "t.maps[2].k: the 2 heads must share its heads evenly, but it has 3");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.maps[2].k.shape = {1, 2, 3};
            }),
            "t.maps[2].k: must be [KV heads, keys, d], here [1, 2, 2], but is [1, 2, 3]");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[2].k.values.pop_back(); }),
            "t.maps[2].k: [1, 2, 2] takes 4 numbers, but there are 3");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.maps[2].scale = std::nan(""); }),
            "t.maps[2].scale: must be finite, but is nan");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.maps[2].bias.shape = {3, 2};
            }),
            "t.maps[2].bias: must be [1 or heads, queries, keys], here [2, 3, 2], but is [3, 2]");
}

TEST(AttentionTrace, ValidateNamesTheSidesFieldAndTheRule) {
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.target.tokens.pop_back(); }).substr(0, 22),
            "t.target.words: must b");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.target = {}, t.target.tokens = {"a"}; }),
            "t.target.tokens: must be as many as the decoder's, 3, but there are 1");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.tokens[1] = "a\xFF"; }),
            "t.source.tokens[1]: byte 2 is not valid UTF-8");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.tokens.resize(65537); }),
            "t.source.tokens: must be at most 65536, but there are 65537");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.words = {1, 0};
            }),
            "t.source.words[1]: must not fall, but is 0 after 1");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.words = {0, -2};
            }),
            "t.source.words[1]: must be from -1 to 65535, but is -2");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.words = {0}; }),
            "t.source.words: must be one for each of the 2 tokens, but there are 1");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.word_texts.pop_back(); }),
            "t.source.word_texts: must be one for each of the 2 words, but there are 1");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.segments = {0, 1, 1};
            }),
            "t.source.segments: must be one for each of the 2 tokens, but there are 3");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.seconds = 0; }),
            "t.source.seconds: must be a finite number greater than 0, but is 0");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.grid = {0, 2};
            }),
            "t.source.grid: must be from 1 to 65536 patches, but is 0 x 2");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.grid = {1, 1};
            }),
            "t.source.words: must number the 1 patches of the grid, but count 2");
}

TEST(AttentionTrace, EveryTokenOfAPictureHasItsPatchOrIsNone) {
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.grid = {1, 2}, t.source.words.clear();
            }),
            "t.source.words: must tell the patch of each of the 2 tokens, but there are 0");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.grid = {1, 2}, t.source.words = {-1, 1}; }), "no error");
}

TEST(AttentionTrace, AGridHasNoMorePatchesThanASideHasTokens) {
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source.grid = {65536, 1}; }), "no error");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source.grid = {65536, 65536};
            }),
            "t.source.grid: must be from 1 to 65536 patches, but is 65536 x 65536");
}

TEST(AttentionTrace, ValidateNamesWhatIsBesideTheMaps) {
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.source_embeddings.after = {}; }),
            "t.embeddings.source.after: must be [tokens, d], here [2, 3], but is []");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) {
              t.source_embeddings.before.shape = {3, 2};
            }),
            "t.embeddings.source.before: must be [tokens, d], here [2, 1 to 65536], but is [3, 2]");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.steps[0].hypotheses[0].parent = 0; }),
            "t.steps[0].hypotheses[0].parent: must be -1 in the first step, but is 0");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.steps[1].hypotheses[0].parent = 2; }),
            "t.steps[1].hypotheses[0].parent: the step before has hypotheses 0 to 1, and no 2");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.steps[0].hypotheses.clear(); }),
            "t.steps[0].hypotheses: must be from 1 to 4096, but there are 0");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.steps[0].hypotheses[0].candidates[0].probability = 1.5; }),
            "t.steps[0].hypotheses[0].candidates[0].probability: must be from 0 to 1, but is 1.5");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.gold[1].target = 2; }),
            "t.gold[1]: must be a word of the source's 2 and one of the target's 2, but is 1 and 2");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.image = "data:image/svg+xml;base64,AAAA"; }),
            "t.image: must begin with data:image/png;base64, or data:image/jpeg;base64, but is "
            "data:image/svg+xml;base64,AAAA");
  EXPECT_EQ(refused_trace([](AttentionTrace& t) { t.image = "data:image/png;base64,A\"on"; }),
            "t.image: character 2 is not base64");
}

}  // namespace
}  // namespace heed
