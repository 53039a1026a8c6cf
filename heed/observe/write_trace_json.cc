#include <array>

#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/observe/trace_json.h"

namespace heed {
namespace {

// Writes the fields of one trace.
class TraceWriter {
 public:
  TraceWriter(JsonStream& json, std::string place, const WriteTraceArray& write_array)
      : json_(json), place_(std::move(place)), write_array_(write_array) {}

  void write(const AttentionTrace& trace) {
    json_.open_object();
    if (!trace.model.empty()) json_.key("model"), json_.value(trace.model);
    write_side("source", trace.source);
    write_side("decoder", trace.decoder);
    write_side("target", trace.target);
    json_.key("maps"), json_.open_array();
    for (std::size_t i = 0; i < trace.maps.size(); ++i) write_map(trace.maps[i], fmt::format("maps[{}]", i));
    json_.close();
    write_embeddings(trace);
    write_steps(trace.steps);
    write_gold(trace.gold);
    if (!trace.image.empty()) json_.key("image"), json_.value(trace.image);
    json_.close();
  }

 private:
  void write_side(const char* name, const TraceSide& side) {
    if (side == TraceSide()) return;
    json_.key(name), json_.open_object();
    if (!side.text.empty()) json_.key("text"), json_.value(side.text);
    json_.key("tokens"), json_.value(Json::array_of(side.tokens));
    if (!side.words.empty()) json_.key("words"), json_.value(Json::array_of(side.words));
    if (!side.word_texts.empty()) json_.key("word_texts"), json_.value(Json::array_of(side.word_texts));
    if (!side.segments.empty()) json_.key("segments"), json_.value(Json::array_of(side.segments));
    if (side.grid) {
      json_.key("grid"), json_.value(Json::object({{"rows", side.grid->rows}, {"columns", side.grid->columns}}));
    }
    if (side.seconds) json_.key("seconds"), json_.number(*side.seconds);
    json_.close();
  }

  void write_array(const std::string& owner, const char* name, std::span<const Index> shape,
                   std::span<const float> values) {
    json_.key(name);
    write_array_(json_, fmt::format("{}.{}.{}", place_, owner, name), {shape, values});
  }

  void write_array(const std::string& owner, const char* name, const TraceArray& array) {
    if (!array.empty()) write_array(owner, name, array.shape, array.values);
  }

  void write_map(const AttentionTrace::Map& map, const std::string& place) {
    json_.open_object();
    json_.key("path"), json_.value(map.path);
    json_.key("layer"), json_.integer(map.layer);
    json_.key("kind"), json_.value(enum_name(map.kind));
    json_.key("heads"), json_.integer(map.heads);
    json_.key("queries"), json_.integer(map.queries);
    json_.key("keys"), json_.integer(map.keys);
    write_array(place, "weights", std::array{map.heads, map.queries, map.keys}, map.weights);
    write_array(place, "q", map.q);
    write_array(place, "k", map.k);
    if (!map.q.empty()) json_.key("scale"), json_.number(map.scale);
    write_array(place, "bias", map.bias);
    json_.close();
  }

  void write_embeddings(const AttentionTrace& trace) {
    if (trace.source_embeddings.empty() && trace.decoder_embeddings.empty()) return;
    json_.key("embeddings"), json_.open_object();
    const auto write_one = [this](const char* side, const AttentionTrace::Embeddings& embeddings) {
      if (embeddings.empty()) return;
      json_.key(side), json_.open_object();
      const std::string owner = fmt::format("embeddings.{}", side);
      write_array(owner, "before", embeddings.before);
      write_array(owner, "after", embeddings.after);
      json_.close();
    };
    write_one("source", trace.source_embeddings);
    write_one("decoder", trace.decoder_embeddings);
    json_.close();
  }

  void write_hypothesis(const AttentionTrace::Hypothesis& hypothesis) {
    json_.open_object();
    json_.key("parent"), json_.integer(hypothesis.parent);
    json_.key("token"), json_.value(hypothesis.token);
    json_.key("log_probability"), json_.number(hypothesis.log_probability);
    json_.key("total"), json_.number(hypothesis.total);
    json_.key("candidates"), json_.open_array();
    for (const auto& [token, probability] : hypothesis.candidates) {
      json_.value(Json::object({{"token", token}, {"probability", probability}}));
    }
    json_.close();
    json_.close();
  }

  void write_steps(std::span<const AttentionTrace::Step> steps) {
    if (steps.empty()) return;
    json_.key("steps"), json_.open_array();
    for (const AttentionTrace::Step& step : steps) {
      json_.open_object();
      json_.key("hypotheses"), json_.open_array();
      for (const AttentionTrace::Hypothesis& hypothesis : step.hypotheses) write_hypothesis(hypothesis);
      json_.close();
      json_.close();
    }
    json_.close();
  }

  void write_gold(std::span<const AttentionTrace::GoldLink> gold) {
    if (gold.empty()) return;
    json_.key("gold"), json_.open_array();
    for (const auto& [source, target, sure] : gold) json_.value(Json::array({source, target, sure}));
    json_.close();
  }

  JsonStream& json_;
  std::string place_;
  const WriteTraceArray& write_array_;
};

}  // namespace

void write_array_inside(JsonStream& json, const std::string&, const TraceArrayView& array) {
  json.open_object();
  json.key("shape"), json.value(Json::array_of(array.shape));
  json.key("f32"), json.base64({reinterpret_cast<const char*>(array.values.data()), array.values.size_bytes()});
  json.close();
}

void stream_traces(std::span<const AttentionTrace> traces, const JsonStream::Sink& sink,
                   const WriteTraceArray& write_array) {
  JsonStream json(sink, 1);
  json.open_object();
  json.key("format"), json.value(kTraceFormat);
  json.key("version"), json.integer(kTraceVersion);
  json.key("traces"), json.open_array();
  for (std::size_t i = 0; i < traces.size(); ++i) {
    TraceWriter(json, fmt::format("traces[{}]", i), write_array).write(traces[i]);
  }
  json.close();
  json.close();
  json.finish();
  sink("\n");
}

}  // namespace heed
