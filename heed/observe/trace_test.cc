#include "heed/observe/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "heed/base/error.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

// Two source tokens, three target tokens, one map of each kind.
AttentionTrace example() {
  AttentionTrace trace;
  trace.model = "tiny";
  trace.source_text = "ein Hund";
  trace.target_text = "a \"dog\"\n";
  trace.source_tokens = {"ein", "\xE2\x96\x81Hund"};
  trace.decoder_tokens = {"<s>", "a", "dog"};
  trace.target_tokens = {"a", "dog", "</s>"};
  trace.maps = {
      {"encoder.layers.0.self_attn", AttentionKind::encoder, 1, 2, 2, {0.1f, 0.9f, 1.0f / 3, 2.0f / 3}},
      {"decoder.layers.0.self_attn", AttentionKind::decoder, 1, 3, 3, {1, 0, 0, 0.5f, 0.5f, 0, 0.2f, 0.3f, 0.5f}},
      {"decoder.layers.0.multihead_attn", AttentionKind::cross, 2, 3, 2, std::vector<float>(12, 0.5f)}};
  return trace;
}

std::string refusal(const std::function<void(AttentionTrace&)>& spoil) {
  AttentionTrace trace = example();
  spoil(trace);
  return testing::refusal([&] { validate(trace, "t"); });
}

// The error of the example's file in which `from` was replaced by `to`.
std::string file_refusal(const std::string& from, const std::string& to) {
  const AttentionTrace trace = example();
  std::string text = traces_to_text({&trace, 1});
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "the text does not hold " + from;
  text.replace(at, from.size(), to);
  return testing::refusal([&] { parse_traces(text, "t.json"); });
}

TEST(AttentionTrace, RoundTripsBitForBitThroughTextAndFile) {
  const std::vector<AttentionTrace> traces = {example(), AttentionTrace(), example()};
  const std::string text = traces_to_text(traces);
  EXPECT_EQ(parse_traces(text, "t"), traces);
  EXPECT_EQ(traces_to_text(parse_traces(text, "t")), text);

  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_trace_test.json";
  write_traces(path, traces);
  EXPECT_EQ(read_traces(path), traces);
  EXPECT_NE(testing::refusal([&] { read_trace(path); }).find("must hold one trace, but holds 3"), std::string::npos);
  write_trace(path, example());
  EXPECT_EQ(read_trace(path), example());
  std::filesystem::remove(path);
}

TEST(AttentionTrace, WeightReadsHeadQueryKey) {
  AttentionTrace::Map map = example().maps[2];
  map.weights[(1 * 3 + 2) * 2 + 1] = 0.25f;
  EXPECT_EQ(map.weight(1, 2, 1), 0.25f);
}

TEST(AttentionTrace, AMapsAxesAreTheTokensOfItsKind) {
  const AttentionTrace trace = example();
  for (const AttentionTrace::Map& map : trace.maps) {
    EXPECT_EQ(static_cast<Index>(trace.query_tokens(map.kind).size()), map.queries) << map.path;
    EXPECT_EQ(static_cast<Index>(trace.key_tokens(map.kind).size()), map.keys) << map.path;
  }
  EXPECT_EQ(&trace.query_tokens(AttentionKind::encoder), &trace.source_tokens);
  EXPECT_EQ(&trace.query_tokens(AttentionKind::decoder), &trace.decoder_tokens);
  EXPECT_EQ(&trace.key_tokens(AttentionKind::decoder), &trace.decoder_tokens);
  EXPECT_EQ(&trace.query_tokens(AttentionKind::cross), &trace.target_tokens);
  EXPECT_EQ(&trace.key_tokens(AttentionKind::cross), &trace.source_tokens);
}

TEST(AttentionTrace, ValidateNamesTheMapAndTheRule) {
  EXPECT_EQ(refusal([](AttentionTrace&) {}), "no error");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[0].weights.pop_back(); }),
            "t: encoder.layers.0.self_attn: 1 heads x 2 queries x 2 keys need 4 weights, but there are 3");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.target_tokens.pop_back(); }),
            "t: decoder_tokens must be as many as target_tokens, 2, but there are 3");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.target_tokens.pop_back(), t.decoder_tokens.pop_back(); }),
            "t: decoder.layers.0.self_attn: a map of kind decoder must be 2 queries x 2 keys, one for each token, but "
            "is 3 x 3");
  EXPECT_EQ(refusal([](AttentionTrace& t) { std::swap(t.maps[2].queries, t.maps[2].keys); }),
            "t: decoder.layers.0.multihead_attn: a map of kind cross must be 3 queries x 2 keys, one for each token, "
            "but is 2 x 3");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[0].weights[2] = std::nanf(""); }),
            "t: encoder.layers.0.self_attn: weight 2 must be finite, but is nan");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[0].heads = 0; }),
            "t: encoder.layers.0.self_attn: heads must be from 1 to 1024, but is 0");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[0].heads = std::numeric_limits<Index>::max(); }).substr(0, 33),
            "t: encoder.layers.0.self_attn: he");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[1].path = t.maps[0].path; }),
            "t: encoder.layers.0.self_attn: two maps have this path");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[0].path.clear(); }), "t: a map without a path");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.maps[0].kind = static_cast<AttentionKind>(9); }),
            "t: encoder.layers.0.self_attn: no such kind of attention: 9");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.source_tokens[0] = "a\xFF"; }),
            "t: source_tokens: byte 2 is not valid UTF-8");
  EXPECT_EQ(refusal([](AttentionTrace& t) { t.source_tokens.resize(65537); }),
            "t: source_tokens: at most 65536 tokens, but there are 65537");
}

TEST(AttentionTrace, WhatIsInvalidIsNotWritten) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heed_trace_invalid.json";
  write_trace(path, example());
  AttentionTrace trace = example();
  trace.maps[0].weights[0] = std::numeric_limits<float>::infinity();
  EXPECT_THROW(write_trace(path, trace), Error);
  EXPECT_EQ(read_trace(path), example());
  std::filesystem::remove(path);
}

TEST(AttentionTraceHostile, FilesAreRefusedWithThePlace) {
  EXPECT_EQ(file_refusal("\"version\": 1", "\"version\": 2"),
            "t.json: version: must be an integer from 1 to 1, but is 2");
  EXPECT_EQ(file_refusal("heed attention traces", "other"),
            "t.json: format: must be \"heed attention traces\", but is \"other\"");
  EXPECT_EQ(file_refusal("\"cross\"", "\"crossed\""),
            "t.json: traces[0].maps[2].kind: must be one of encoder, decoder, cross, but is \"crossed\"");
  EXPECT_EQ(file_refusal("\"heads\": 2", "\"heads\": 2000000000000"),
            "t.json: traces[0].maps[2].heads: must be an integer from 1 to 1024, but is 2000000000000");
  EXPECT_EQ(file_refusal("\"queries\": 2", "\"queries\": -2"),
            "t.json: traces[0].maps[0].queries: must be an integer from 0 to 65536, but is -2");
  EXPECT_EQ(file_refusal("\"queries\": 2", "\"queries\": 3"),
            "t.json: traces[0]: encoder.layers.0.self_attn: a map of kind encoder must be 2 queries x 2 keys, one for "
            "each token, "
            "but is 3 x 2");
  EXPECT_EQ(file_refusal("[0.1, 0.9,", "[0.1, null,"),
            "t.json: traces[0].maps[0].weights[1]: must be a number, but is null");
  EXPECT_EQ(file_refusal("[0.1, 0.9,", "[0.1, 1e300,"),
            "t.json: traces[0]: encoder.layers.0.self_attn: weight 1 must be finite, but is inf");
  EXPECT_EQ(
      file_refusal("[0.1, 0.9,", "[0.1,"),
      "t.json: traces[0]: encoder.layers.0.self_attn: 1 heads x 2 queries x 2 keys need 4 weights, but there are 3");
  EXPECT_EQ(file_refusal("\"model\"", "\"modell\"").find("t.json: traces[0]: unknown key \"modell\""), 0u);
  EXPECT_EQ(file_refusal("\"ein\"", "7"), "t.json: traces[0].source_tokens[0]: must be a string, but is 7");
}

TEST(AttentionTraceHostile, EveryPrefixIsAnError) {
  const AttentionTrace trace = example();
  const std::string text = traces_to_text({&trace, 1});
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_THROW(parse_traces(text.substr(0, size), "t"), Error) << size;
  }
}

}  // namespace
}  // namespace heed
