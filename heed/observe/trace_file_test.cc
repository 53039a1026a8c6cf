#include "heed/observe/trace_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/npz.h"
#include "heed/observe/trace_sample.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

std::filesystem::path temporary(const std::string& name) { return std::filesystem::path(::testing::TempDir()) / name; }

std::string sample_text() {
  const AttentionTrace trace = sample_trace();
  return traces_to_text({&trace, 1});
}

// The error of the text in which `from` was replaced by `to`.
std::string refusal(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "the text does not hold " + from;
  text.replace(at, from.size(), to);
  return testing::refusal([&] { parse_traces(text, "t.json"); });
}

// What a person types: the two words of two languages, and one head.
constexpr const char* kTyped = R"({
  "format": "heed attention traces", "version": 2,
  "traces": [{
    "source": {"tokens": ["ein", "Hund"]},
    "target": {"tokens": ["a", "dog"]},
    "maps": [{"kind": "cross", "weights": [[[0.9, 0.1], [0, 1]]]}]
  }]
})";

TEST(TraceFile, RoundTripsBitForBitThroughTextAndFile) {
  const std::vector<AttentionTrace> traces = {sample_trace(), AttentionTrace(), sample_trace()};
  const std::string text = traces_to_text(traces);
  EXPECT_EQ(parse_traces(text, "t"), traces);
  EXPECT_EQ(traces_to_text(parse_traces(text, "t")), text);
  EXPECT_TRUE(std::signbit(parse_traces(text, "t")[0].maps[2].q.values[1]));

  const std::filesystem::path path = temporary("heed_trace_file_test.json");
  write_traces(path, traces);
  EXPECT_EQ(read_traces(path), traces);
  EXPECT_NE(testing::refusal([&] { read_trace(path); }).find("must hold one trace, but holds 3"), std::string::npos);
  write_trace(path, sample_trace());
  EXPECT_EQ(read_trace(path), sample_trace());
  std::filesystem::remove(path);
}

TEST(TraceFile, LargeArraysAreWrittenInPartsThatJoin) {
  AttentionTrace trace;
  trace.source.tokens.assign(200, "x");
  AttentionTrace::Map map{.path = "p", .heads = 3, .queries = 200, .keys = 200};
  for (int i = 0; i < 3 * 200 * 200; ++i) map.weights.push_back(std::bit_cast<float>(i * 7919));
  trace.maps.push_back(map);
  EXPECT_EQ(parse_traces(traces_to_text({&trace, 1}), "t")[0], trace);
}

TEST(TraceFile, WhatAPersonTypesIsRead) {
  const AttentionTrace trace = parse_traces(kTyped, "t")[0];
  ASSERT_EQ(trace.maps.size(), 1u);
  const AttentionTrace::Map& map = trace.maps[0];
  EXPECT_EQ(map, (AttentionTrace::Map{"cross.0", 0, AttentionKind::cross, 1, 2, 2, {0.9f, 0.1f, 0, 1}}));
  EXPECT_EQ(trace.target.tokens, (std::vector<std::string>{"a", "dog"}));
  EXPECT_EQ(parse_traces(traces_to_text({&trace, 1}), "t")[0], trace);
}

TEST(TraceFile, MapsWithoutANumberAreCountedWithinTheirKind) {
  std::string text = kTyped;
  const std::string map = R"({"kind": "cross", "weights": [[[0.9, 0.1], [0, 1]]]})";
  text.replace(text.find(map), map.size(), map + ", " + map);
  EXPECT_EQ(parse_traces(text, "t")[0].maps[1].layer, 1);
  EXPECT_EQ(parse_traces(text, "t")[0].maps[1].path, "cross.1");
}

TEST(TraceFile, WhatIsInvalidIsNotWritten) {
  const std::filesystem::path path = temporary("heed_trace_file_invalid.json");
  write_trace(path, sample_trace());
  AttentionTrace trace = sample_trace();
  trace.maps[0].weights[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(testing::refusal([&] { write_trace(path, trace); }),
            "traces[0].maps[0].weights: number 0 must be finite, but is inf");
  EXPECT_EQ(read_trace(path), sample_trace());
  std::filesystem::remove(path);
}

TEST(TraceFile, AnArchiveHoldsTheSameBitForBit) {
  const std::vector<AttentionTrace> traces = {sample_trace(), AttentionTrace(), sample_trace()};
  const std::filesystem::path path = temporary("heed_trace_file_test.npz");
  write_traces(path, traces);
  EXPECT_EQ(read_traces(path), traces);
  const std::string bytes = read_file(path);
  write_traces(path, traces);
  EXPECT_EQ(read_file(path), bytes);
  const NpyArray weights = NpzReader(path).array("traces[0].maps[2].weights");
  EXPECT_EQ(weights.shape, (std::vector<Index>{2, 3, 2}));
  std::filesystem::remove(path);
}

TEST(TraceFile, ArraysMayLieInTheArchiveBeside) {
  const std::filesystem::path json = temporary("heed_trace_beside.json"), npz = temporary("heed_trace_beside.npz");
  std::string text = kTyped;
  const std::string weights = "[[[0.9, 0.1], [0, 1]]]";
  text.replace(text.find(weights), weights.size(), R"({"npz": "cross"})");
  write_file(json, text);
  EXPECT_NE(testing::refusal([&] { read_traces(json); }).find("heed_trace_beside.npz"), std::string::npos);
  const std::vector<double> numbers = {0.9, 0.1, 0, 1};
  NpzWriter writer;
  writer.add("cross", make_view(numbers.data(), {1, 2, 2}));
  writer.save(npz);
  EXPECT_EQ(read_traces(json), parse_traces(kTyped, "t"));
  NpzWriter other;
  other.add("another", make_view(numbers.data(), {1, 2, 2}));
  other.save(npz);
  EXPECT_EQ(testing::refusal([&] { read_traces(json); }), npz.string() + ": has no entry cross.npy");
  std::filesystem::remove(json);
  std::filesystem::remove(npz);
}

TEST(TraceFileHostile, AnArchivesArraysMustBeWhatTheTraceSays) {
  const auto with = [](std::vector<float> numbers, std::initializer_list<Index> shape, const std::string& weights) {
    std::string text = kTyped;
    const std::string typed = "[[[0.9, 0.1], [0, 1]]]";
    text.replace(text.find(typed), typed.size(), weights);
    NpzWriter writer;
    writer.add("w", make_view(numbers.data(), shape));
    writer.add_text("traces.json", text);
    const NpzReader reader(writer.bytes(), "t.npz");
    return testing::refusal([&] { read_trace_archive(reader); });
  };
  EXPECT_EQ(with({1, 0, 0, 1}, {1, 2, 2}, R"({"shape": [1, 2, 2], "npz": "w"})"), "no error");
  EXPECT_EQ(with({1, 0, 0, 1}, {1, 2, 2}, R"({"shape": [1, 4, 1], "npz": "w"})"),
            "t.npz: traces.json: traces[0].maps[0].weights.shape: must be that of the array in the archive, but is an "
            "array of 3");
  EXPECT_EQ(with({1, 0, 0, 1}, {2, 2}, R"({"npz": "w"})"),
            "t.npz: traces.json: traces[0].maps[0].weights: must be [heads, queries, keys], but is an object with 1 "
            "keys");
  EXPECT_EQ(with({1, 0, 0, std::nanf("")}, {1, 2, 2}, R"({"npz": "w"})"),
            "t.npz: traces.json: traces[0].maps[0].weights: number 3 must be finite, but is nan");
  EXPECT_EQ(with({1, 0, 0, 1}, {1, 2, 2}, R"({"npz": "../w"})"), "t.npz: has no entry ../w.npy");
}

TEST(TraceFileHostile, AnotherFormIsRefused) {
  EXPECT_EQ(refusal(kTyped, "\"version\": 2", "\"version\": 1"),
            "t.json: version: must be 2: what another version of heed wrote is to be recorded again, but is 1");
  EXPECT_EQ(refusal(kTyped, "heed attention traces", "other"),
            "t.json: format: must be \"heed attention traces\", but is \"other\"");
  EXPECT_EQ(refusal(kTyped, "\"source\"", "\"sauce\"").find("t.json: traces[0]: unknown key \"sauce\""), 0u);
  EXPECT_EQ(refusal(kTyped, "\"ein\"", "7"), "t.json: traces[0].source.tokens[0]: must be a string, but is 7");
  EXPECT_EQ(refusal(kTyped, "\"cross\"", "\"crossed\""),
            "t.json: traces[0].maps[0].kind: must be one of encoder, decoder, cross, but is \"crossed\"");
}

TEST(TraceFileHostile, NestedListsMustBeARectangleOfNumbers) {
  const std::string weights = "[[[0.9, 0.1], [0, 1]]]";
  const auto with = [&](const std::string& other) { return refusal(kTyped, weights, other); };
  EXPECT_EQ(
      with("[[[0.9, 0.1], [0]]]"),
      "t.json: traces[0].maps[0].weights[0][1]: must have 2 items, as the first list beside it, but is an array of 1");
  EXPECT_EQ(with("[[[0.9, 0.1], 0]]"),
            "t.json: traces[0].maps[0].weights[0][1]: must be a list, as the first item, but is 0");
  EXPECT_EQ(with("[[[0.9, null], [0, 1]]]"),
            "t.json: traces[0].maps[0].weights[0][0][1]: must be a number, but is null");
  EXPECT_EQ(with("[[[0.9, 1e300], [0, 1]]]"), "t.json: traces[0].maps[0].weights: number 1 must be finite, but is inf");
  EXPECT_EQ(with("[[0.9, 0.1], [0, 1]]"),
            "t.json: traces[0].maps[0].weights: must be [heads, queries, keys], but is an array of 2");
  EXPECT_EQ(with("[[[[0.9]]]]"),
            "t.json: traces[0].maps[0].weights[0][0][0]: must be a number: lists lie in lists 3 deep at most, but is "
            "an array of 1");
  EXPECT_EQ(with("[[[1, 0], [[1, 2], [0]]]]"),
            "t.json: traces[0].maps[0].weights[0][1]: must hold numbers, as the first list beside it, but is "
            "an array of 2");
  EXPECT_EQ(with("[]"), "t.json: traces[0].maps[0].weights: must be [heads, queries, keys], but is an array of 0");
  EXPECT_EQ(with("\"0.9\""),
            "t.json: traces[0].maps[0].weights: must be lists of numbers, or {\"shape\": ..., \"f32\": ...}, but is "
            "\"0.9\"");
}

TEST(TraceFileHostile, PackedArraysMustFillTheirShape) {
  const auto with = [&](const std::string& other) { return refusal(kTyped, "[[[0.9, 0.1], [0, 1]]]", other); };
  EXPECT_EQ(with(R"({"shape": [1, 2, 2], "f32": "AAAAAA=="})"),
            "t.json: traces[0].maps[0].weights: its shape takes 4 numbers, but there are 1");
  EXPECT_EQ(with(R"({"shape": [65536, 65536, 65536], "f32": ""})"),
            "t.json: traces[0].maps[0].weights: its shape takes 281474976710656 numbers, but there are 0");
  EXPECT_EQ(with(R"({"shape": [1000000, 1, 1], "f32": ""})"),
            "t.json: traces[0].maps[0].weights.shape[0]: must be an integer from 0 to 65536, but is 1000000");
  EXPECT_EQ(with(R"({"shape": [1, 1, 1, 1], "f32": "AAAAAA=="})"),
            "t.json: traces[0].maps[0].weights.shape: must have 1 to 3 extents, but is an array of 4");
  EXPECT_EQ(with(R"({"shape": [1, 1, 1], "f32": "AAA="})"),
            "t.json: traces[0].maps[0].weights.f32: must hold numbers of 4 bytes, but holds 2 bytes");
  EXPECT_EQ(with(R"({"shape": [1, 1, 1], "f32": "A*=="})"),
            "t.json: traces[0].maps[0].weights.f32: character 2 is not base64");
  EXPECT_EQ(with(R"({"shape": [1, 2, 2], "npz": "w"})"),
            "t.json: traces[0].maps[0].weights: must hold its numbers: there is no archive beside it, but is "
            "an object with 2 keys");
}

TEST(TraceFileHostile, FieldsThatDisagreeAreRefused) {
  EXPECT_EQ(refusal(sample_text(), "\"heads\": 2", "\"heads\": 2000000000000"),
            "t.json: traces[0].maps[2].heads: must be that of the weights, 2, but is 2000000000000");
  EXPECT_EQ(refusal(sample_text(), "\"queries\": 2", "\"queries\": -2"),
            "t.json: traces[0].maps[0].queries: must be that of the weights, 2, but is -2");
  EXPECT_EQ(refusal(sample_text(), "\"layer\": 7", "\"layer\": 70000"),
            "t.json: traces[0].maps[2].layer: must be an integer from 0 to 65535, but is 70000");
  EXPECT_EQ(refusal(sample_text(), "\"parent\": 1", "\"parent\": 2"),
            "t.json: traces[0].steps[1].hypotheses[0].parent: the step before has hypotheses 0 to 1, and no 2");
}

TEST(TraceFileHostile, EveryPrefixIsAnError) {
  const std::string text = sample_text();
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {
    EXPECT_THROW(parse_traces(text.substr(0, size), "t"), Error) << size;
  }
}

}  // namespace
}  // namespace heed
