#include <bit>
#include <cstring>

#include "heed/base/check.h"
#include "heed/io/base64.h"
#include "heed/io/fields.h"
#include "heed/observe/trace_json.h"

namespace heed {
namespace {

constexpr std::size_t kMostAxes = 3;

// --- Arrays ----------------------------------------------------------------------------------------------------------

// Appends the numbers of lists in lists, all of one length on one level.
void append_nested(const Json& json, std::size_t level, TraceArray& array) {
  const Index size = json.size();
  if (array.shape.size() == level) {
    if (level == kMostAxes) json.refuse(fmt::format("must be a number: lists lie in lists {} deep at most", kMostAxes));
    array.shape.resize(level + 1, size);
  } else if (array.shape[level] != size) {
    json.refuse(fmt::format("must have {} items, as the first list beside it", array.shape[level]));
  }
  const bool of_lists = size > 0 && json[Index{0}].kind() == Json::Kind::array;
  if (of_lists && !array.values.empty() && array.shape.size() == level + 1) {
    json.refuse("must hold numbers, as the first list beside it");
  }
  if (!of_lists) {
    if (array.shape.size() != level + 1) json.refuse("must hold lists, as the first list beside it");
    const std::vector<float> numbers = json.float_list();
    array.values.insert(array.values.end(), numbers.begin(), numbers.end());
    return;
  }
  for (const Json& item : json.items()) {
    if (item.kind() != Json::Kind::array) item.refuse("must be a list, as the first item");
    append_nested(item, level + 1, array);
  }
}

TraceArray packed_array(const Json& json) {
  static_assert(std::endian::native == std::endian::little);
  TraceArray array;
  array.shape = json["shape"].integer_list(0, kMaxTraceTokens);
  if (array.shape.empty() || array.shape.size() > kMostAxes) {
    json["shape"].refuse(fmt::format("must have 1 to {} extents", kMostAxes));
  }
  const Json text = json["f32"];
  const std::string bytes = base64_bytes(text.string(), text.where());
  HEED_CHECK(bytes.size() % sizeof(float) == 0, "{}: must hold numbers of 4 bytes, but holds {} bytes", text.where(),
             bytes.size());
  array.values.resize(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(array.values.data(), bytes.data(), bytes.size());
  return array;
}

// The shape holds against the numbers, so that what follows may trust it.
TraceArray checked(TraceArray array, const Json& json) {
  Index numbers = 1;  // at most 2^48
  for (Index extent : array.shape) numbers *= extent;
  HEED_CHECK(std::ssize(array.values) == numbers, "{}: its shape takes {} numbers, but there are {}", json.where(),
             numbers, array.values.size());
  return array;
}

// --- One trace -------------------------------------------------------------------------------------------------------

class TraceReader {
 public:
  explicit TraceReader(const ReadTraceArray& read_beside) : read_beside_(read_beside) {}

  AttentionTrace read(const Json& json) const {
    json.allow_only({"model", "source", "decoder", "target", "maps", "embeddings", "steps", "gold", "image"});
    AttentionTrace trace;
    read_text(json, "model", trace.model);
    if (json.has("source")) trace.source = side(json["source"]);
    if (json.has("decoder")) trace.decoder = side(json["decoder"]);
    if (json.has("target")) trace.target = side(json["target"]);
    for (const Json& item : json["maps"].items()) trace.maps.push_back(map(item, trace.maps));
    if (json.has("embeddings")) {
      const Json embeddings = json["embeddings"];
      embeddings.allow_only({"source", "decoder"});
      if (embeddings.has("source")) trace.source_embeddings = embedded(embeddings["source"]);
      if (embeddings.has("decoder")) trace.decoder_embeddings = embedded(embeddings["decoder"]);
    }
    if (json.has("steps")) {
      for (const Json& item : json["steps"].items()) trace.steps.push_back(step(item));
    }
    if (json.has("gold")) {
      for (const Json& item : json["gold"].items()) trace.gold.push_back(gold_link(item));
    }
    read_text(json, "image", trace.image);
    return trace;
  }

 private:
  static void read_text(const Json& json, std::string_view key, std::string& text) {
    if (json.has(key)) text = json[key].string();
  }

  static TraceSide side(const Json& json) {
    json.allow_only({"text", "tokens", "words", "word_texts", "segments", "grid", "seconds"});
    TraceSide side;
    read_text(json, "text", side.text);
    side.tokens = json["tokens"].string_list();
    if (json.has("words")) side.words = json["words"].integer_list(-1, kMaxTraceTokens - 1);
    if (json.has("word_texts")) side.word_texts = json["word_texts"].string_list();
    if (json.has("segments")) side.segments = json["segments"].integer_list(0, kMaxTraceTokens - 1);
    if (json.has("grid")) {
      const Json grid = json["grid"];
      grid.allow_only({"rows", "columns"});
      side.grid = {grid["rows"].integer(1, kMaxTraceTokens), grid["columns"].integer(1, kMaxTraceTokens)};
    }
    if (json.has("seconds")) side.seconds = json["seconds"].number();
    return side;
  }

  TraceArray array(const Json& json) const {
    if (json.kind() == Json::Kind::array) {
      TraceArray nested;
      append_nested(json, 0, nested);
      return checked(std::move(nested), json);
    }
    if (json.kind() != Json::Kind::object) json.refuse("must be lists of numbers, or {\"shape\": ..., \"f32\": ...}");
    if (!json.has("npz")) {
      json.allow_only({"shape", "f32"});
      return checked(packed_array(json), json);
    }
    json.allow_only({"shape", "npz"});
    if (!read_beside_) json.refuse("must hold its numbers: there is no archive beside it");
    TraceArray beside = read_beside_(json["npz"].string());
    if (json.has("shape") && json["shape"].integer_list() != beside.shape) {
      json["shape"].refuse("must be that of the array in the archive");
    }
    return checked(std::move(beside), json);
  }

  // The array under `key`; empty where there is none.
  TraceArray array(const Json& json, std::string_view key) const {
    return json.has(key) ? array(json[key]) : TraceArray();
  }

  AttentionTrace::Map map(const Json& json, const std::vector<AttentionTrace::Map>& before) const {
    json.allow_only({"path", "layer", "kind", "heads", "queries", "keys", "weights", "q", "k", "scale", "bias"});
    AttentionTrace::Map map;
    field_from_json(json["kind"], map.kind, Missing::refuse);
    for (const AttentionTrace::Map& other : before) map.layer += Index{other.kind == map.kind};
    if (json.has("layer")) map.layer = json["layer"].integer(0, kMaxTraceLayers - 1);
    map.path = fmt::format("{}.{}", enum_name(map.kind), map.layer);
    read_text(json, "path", map.path);
    TraceArray weights = array(json["weights"]);
    if (weights.shape.size() != 3) json["weights"].refuse("must be [heads, queries, keys]");
    map.heads = weights.shape[0], map.queries = weights.shape[1], map.keys = weights.shape[2];
    map.weights = std::move(weights.values);
    for (const auto& [key, extent] : {std::pair("heads", map.heads), {"queries", map.queries}, {"keys", map.keys}}) {
      if (json.has(key) && json[key].integer() != extent) {
        json[key].refuse(fmt::format("must be that of the weights, {}", extent));
      }
    }
    map.q = array(json, "q"), map.k = array(json, "k"), map.bias = array(json, "bias");
    if (json.has("scale")) map.scale = json["scale"].number();
    return map;
  }

  AttentionTrace::Embeddings embedded(const Json& json) const {
    json.allow_only({"before", "after"});
    return {array(json["before"]), array(json["after"])};
  }

  static AttentionTrace::Step step(const Json& json) {
    json.allow_only({"hypotheses"});
    AttentionTrace::Step step;
    for (const Json& item : json["hypotheses"].items()) {
      item.allow_only({"parent", "token", "log_probability", "total", "candidates"});
      AttentionTrace::Hypothesis hypothesis;
      hypothesis.parent = item["parent"].integer(-1, kMaxTraceHypotheses);
      hypothesis.token = item["token"].string();
      hypothesis.log_probability = item["log_probability"].number();
      hypothesis.total = item["total"].number();
      if (item.has("candidates")) {
        for (const Json& candidate : item["candidates"].items()) {
          candidate.allow_only({"token", "probability"});
          hypothesis.candidates.push_back({candidate["token"].string(), candidate["probability"].number()});
        }
      }
      step.hypotheses.push_back(std::move(hypothesis));
    }
    return step;
  }

  static AttentionTrace::GoldLink gold_link(const Json& json) {
    if (json.kind() != Json::Kind::array || json.size() != 3) json.refuse("must be [source word, target word, sure]");
    return {json[Index{0}].integer(0, kMaxTraceTokens), json[Index{1}].integer(0, kMaxTraceTokens),
            json[Index{2}].boolean()};
  }

  const ReadTraceArray& read_beside_;
};

}  // namespace

std::vector<AttentionTrace> traces_from_json(const Json& file, const ReadTraceArray& read_beside) {
  if (file["format"].string() != kTraceFormat) file["format"].refuse(fmt::format("must be \"{}\"", kTraceFormat));
  const Json version = file["version"];
  if (version.integer() != kTraceVersion) {
    version.refuse(
        fmt::format("must be {}: what another version of heed wrote is to be recorded again", kTraceVersion));
  }
  file.allow_only({"format", "version", "traces"});
  std::vector<AttentionTrace> traces;
  const Json list = file["traces"];
  for (const Json& item : list.items()) {
    AttentionTrace trace = TraceReader(read_beside).read(item);
    validate(trace, fmt::format("{}[{}]", list.where(), traces.size()));
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace heed
