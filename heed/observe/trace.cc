#include "heed/observe/trace.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/fields.h"
#include "heed/io/json.h"
#include "heed/io/json_stream.h"

namespace heed {
namespace {

constexpr std::string_view kFormat = "heed attention traces";
constexpr Index kVersion = 1;

void check_text(std::string_view text, std::string_view name, std::string_view field) {
  Index offset = 0;
  HEED_CHECK(valid_utf8(text, &offset), "{}: {}: byte {} is not valid UTF-8", name, field, offset + 1);
}

void check_tokens(const std::vector<std::string>& tokens, std::string_view name, std::string_view field) {
  HEED_CHECK(static_cast<Index>(tokens.size()) <= kMaxTraceTokens, "{}: {}: at most {} tokens, but there are {}", name,
             field, kMaxTraceTokens, tokens.size());
  for (const std::string& token : tokens) check_text(token, name, field);
}

void check_map(const AttentionTrace& trace, const AttentionTrace::Map& map, std::string_view name) {
  const std::string where = fmt::format("{}: {}", name, printable(map.path));
  HEED_CHECK(!map.path.empty(), "{}: a map without a path", name);
  check_text(map.path, name, "path");
  HEED_CHECK(!enum_name(map.kind).empty(), "{}: no such kind of attention: {}", where, static_cast<int>(map.kind));
  HEED_CHECK(map.heads >= 1 && map.heads <= kMaxTraceHeads, "{}: heads must be from 1 to {}, but is {}", where,
             kMaxTraceHeads, map.heads);
  const auto queries = static_cast<Index>(trace.query_tokens(map.kind).size());
  const auto keys = static_cast<Index>(trace.key_tokens(map.kind).size());
  HEED_CHECK(map.queries == queries && map.keys == keys,
             "{}: a map of kind {} must be {} queries x {} keys, one for each token, but is {} x {}", where,
             enum_name(map.kind), queries, keys, map.queries, map.keys);
  // At most 2^10 x 2^16 x 2^16: no overflow.
  HEED_CHECK(static_cast<Index>(map.weights.size()) == map.heads * queries * keys,
             "{}: {} heads x {} queries x {} keys need {} weights, but there are {}", where, map.heads, queries, keys,
             map.heads * queries * keys, map.weights.size());
  const auto bad = std::ranges::find_if_not(map.weights, [](float weight) { return std::isfinite(weight); });
  HEED_CHECK(bad == map.weights.end(), "{}: weight {} must be finite, but is {}", where, bad - map.weights.begin(),
             *bad);
}

void stream_map(JsonStream& json, const AttentionTrace::Map& map) {
  json.open_object();
  json.key("path"), json.value(map.path);
  json.key("kind"), json.value(enum_name(map.kind));
  json.key("heads"), json.integer(map.heads);
  json.key("queries"), json.integer(map.queries);
  json.key("keys"), json.integer(map.keys);
  json.key("weights"), json.open_list();
  for (float weight : map.weights) json.number(weight);
  json.close();
  json.close();
}

void stream_trace(JsonStream& json, const AttentionTrace& trace) {
  json.open_object();
  json.key("model"), json.value(trace.model);
  json.key("source_text"), json.value(trace.source_text);
  json.key("target_text"), json.value(trace.target_text);
  json.key("source_tokens"), json.value(Json::array_of(trace.source_tokens));
  json.key("decoder_tokens"), json.value(Json::array_of(trace.decoder_tokens));
  json.key("target_tokens"), json.value(Json::array_of(trace.target_tokens));
  json.key("maps"), json.open_array();
  for (const AttentionTrace::Map& map : trace.maps) stream_map(json, map);
  json.close();
  json.close();
}

// Piece by piece: as one text, or one Json, the weights would take many times their size.
void stream_traces(std::span<const AttentionTrace> traces, const JsonStream::Sink& sink) {
  for (std::size_t i = 0; i < traces.size(); ++i) validate(traces[i], fmt::format("traces[{}]", i));
  JsonStream json(sink, 1);
  json.open_object();
  json.key("format"), json.value(kFormat);
  json.key("version"), json.integer(kVersion);
  json.key("traces"), json.open_array();
  for (const AttentionTrace& trace : traces) stream_trace(json, trace);
  json.close();
  json.close();
  json.finish();
  sink("\n");
}

AttentionTrace::Map map_from_json(const Json& json) {
  json.allow_only({"path", "kind", "heads", "queries", "keys", "weights"});
  AttentionTrace::Map map;
  map.path = json["path"].string();
  field_from_json(json["kind"], map.kind, Missing::refuse);
  map.heads = json["heads"].integer(1, kMaxTraceHeads);
  map.queries = json["queries"].integer(0, kMaxTraceTokens);
  map.keys = json["keys"].integer(0, kMaxTraceTokens);
  map.weights = json["weights"].float_list();
  return map;
}

// `where` is json.where(), which a caller with many traces can say without searching for each.
AttentionTrace read_one(const Json& json, std::string_view where) {
  json.allow_only({"model", "source_text", "target_text", "source_tokens", "decoder_tokens", "target_tokens", "maps"});
  AttentionTrace trace;
  trace.model = json["model"].string();
  trace.source_text = json["source_text"].string();
  trace.target_text = json["target_text"].string();
  trace.source_tokens = json["source_tokens"].string_list();
  trace.decoder_tokens = json["decoder_tokens"].string_list();
  trace.target_tokens = json["target_tokens"].string_list();
  for (const Json& map : json["maps"].items()) trace.maps.push_back(map_from_json(map));
  validate(trace, where);
  return trace;
}

}  // namespace

const std::vector<std::string>& AttentionTrace::query_tokens(AttentionKind kind) const {
  switch (kind) {
    case AttentionKind::encoder:
      return source_tokens;
    case AttentionKind::decoder:
      return decoder_tokens;
    case AttentionKind::cross:
      break;
  }
  return target_tokens;
}

const std::vector<std::string>& AttentionTrace::key_tokens(AttentionKind kind) const {
  return kind == AttentionKind::decoder ? decoder_tokens : source_tokens;
}

void validate(const AttentionTrace& trace, std::string_view name) {
  check_text(trace.model, name, "model");
  check_text(trace.source_text, name, "source_text");
  check_text(trace.target_text, name, "target_text");
  check_tokens(trace.source_tokens, name, "source_tokens");
  check_tokens(trace.decoder_tokens, name, "decoder_tokens");
  check_tokens(trace.target_tokens, name, "target_tokens");
  HEED_CHECK(trace.decoder_tokens.size() == trace.target_tokens.size(),
             "{}: decoder_tokens must be as many as target_tokens, {}, but there are {}", name,
             trace.target_tokens.size(), trace.decoder_tokens.size());
  std::set<std::string_view> paths;
  for (const AttentionTrace::Map& map : trace.maps) {
    check_map(trace, map, name);
    HEED_CHECK(paths.insert(map.path).second, "{}: {}: two maps have this path", name, printable(map.path));
  }
}

std::string traces_to_text(std::span<const AttentionTrace> traces) {
  std::string text;
  stream_traces(traces, [&](std::string_view piece) { text += piece; });
  return text;
}

std::vector<AttentionTrace> parse_traces(std::string_view text, std::string_view name) {
  const Json file = Json::parse(text, name);
  if (file["format"].string() != kFormat) file["format"].refuse(fmt::format("must be \"{}\"", kFormat));
  file["version"].integer(kVersion, kVersion);
  file.allow_only({"format", "version", "traces"});
  std::vector<AttentionTrace> traces;
  for (const Json& trace : file["traces"].items()) {
    traces.push_back(read_one(trace, fmt::format("{}: traces[{}]", name, traces.size())));
  }
  return traces;
}

void write_traces(const std::filesystem::path& path, std::span<const AttentionTrace> traces) {
  FileWriter writer(path);
  stream_traces(traces, [&](std::string_view piece) { writer.write(piece); });
  writer.commit();
}

std::vector<AttentionTrace> read_traces(const std::filesystem::path& path) {
  return parse_traces(read_file(path), path.string());
}

void write_trace(const std::filesystem::path& path, const AttentionTrace& trace) { write_traces(path, {&trace, 1}); }

AttentionTrace read_trace(const std::filesystem::path& path) {
  std::vector<AttentionTrace> traces = read_traces(path);
  HEED_CHECK(traces.size() == 1, "{}: must hold one trace, but holds {}", path.string(), traces.size());
  return std::move(traces.front());
}

}  // namespace heed
