#include "heed/viz/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/io/fields.h"
#include "heed/io/json.h"
#include "heed/io/json_stream.h"
#include "heed/viz/attention_picture.h"
#include "heed/viz/colour.h"
#include "heed/viz/page_files.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostWeights = 20'000'000;

Json colours(Theme theme) {
  constexpr int kSteps = 256;
  std::vector<std::string> names;
  for (int i = 0; i < kSteps; ++i) names.push_back(hex(sequential_colour(i / (kSteps - 1.0), theme)));
  return Json::array_of(names);
}

Json tokens(const std::vector<std::string>& list) {
  std::vector<std::string> shown;
  for (const std::string& token : list) shown.push_back(visible_text(token));
  return Json::array_of(shown);
}

// In thousandths: whole numbers are half as long as decimals.
Index thousandths(float weight) {
  constexpr double kLargest = 1e9;
  return std::llround(std::clamp(1000.0 * weight, -kLargest, kLargest));
}

void stream_map(JsonStream& json, const AttentionTrace::Map& map) {
  const std::optional<Index> layer = layer_of(map.path);
  json.open_object();
  json.key("path"), json.value(visible_text(map.path));
  json.key("layer"), json.value(layer ? Json(*layer) : Json());
  json.key("kind"), json.value(enum_name(map.kind));
  json.key("heads"), json.integer(map.heads);
  json.key("queries"), json.integer(map.queries);
  json.key("keys"), json.integer(map.keys);
  json.key("weights"), json.open_list();
  for (float weight : map.weights) json.integer(thousandths(weight));
  json.close();
  json.close();
}

void stream_trace(JsonStream& json, const AttentionTrace& trace) {
  json.open_object();
  json.key("model"), json.value(visible_text(trace.model));
  json.key("source_text"), json.value(visible_text(trace.source_text));
  json.key("target_text"), json.value(visible_text(trace.target_text));
  json.key("source"), json.value(tokens(trace.source_tokens));
  json.key("decoder"), json.value(tokens(trace.decoder_tokens));
  json.key("target"), json.value(tokens(trace.target_tokens));
  json.key("maps"), json.open_array();
  for (const AttentionTrace::Map& map : trace.maps) stream_map(json, map);
  json.close();
  json.close();
}

// JSON that an HTML parser cannot take for markup: these characters occur in JSON only inside strings, where the
// escapes mean the same.
std::string embeddable(std::string_view json) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEscapes = {
      {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}}};
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const auto* escape = std::ranges::find_if(kEscapes, [&](const auto& pair) { return json.starts_with(pair.first); });
    if (escape != kEscapes.end()) {
      out += escape->second;
      json.remove_prefix(escape->first.size());
    } else {
      out += json.front();
      json.remove_prefix(1);
    }
  }
  return out;
}

using Sink = JsonStream::Sink;

// The data of the page, which its script reads.
void stream_data(std::span<const AttentionTrace> traces, const Sink& sink) {
  JsonStream json([&](std::string_view piece) { sink(embeddable(piece)); });
  json.open_object();
  json.key("light"), json.value(colours(Theme::light));
  json.key("dark"), json.value(colours(Theme::dark));
  json.key("traces"), json.open_array();
  for (const AttentionTrace& trace : traces) stream_trace(json, trace);
  json.close();
  json.close();
  json.finish();
}

// Gives the template to the sink, with write(name) in the place of each {{name}}, in one pass: what is put in is not
// looked through again.
void fill_in(std::string_view page, const Sink& sink, const std::function<void(std::string_view)>& write) {
  for (;;) {
    const std::size_t open = page.find("{{");
    sink(page.substr(0, open));
    if (open == std::string_view::npos) return;
    const std::size_t close = page.find("}}", open);
    HEED_CHECK(close != std::string_view::npos, "write_attention_page: the template has an open {{{{");
    write(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
}

void check(std::span<const AttentionTrace> traces) {
  HEED_CHECK(!traces.empty(), "write_attention_page: there must be a trace, but there is none");
  Index weights = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string name = fmt::format("write_attention_page: trace {}", i);
    validate(traces[i], name);
    HEED_CHECK(!traces[i].maps.empty(), "{}: must have a map, but has none", name);
    for (const AttentionTrace::Map& map : traces[i].maps) {
      HEED_CHECK(!map.weights.empty(), "{}: {}: must have weights, but is {} x {} x {}", name, visible_text(map.path),
                 map.heads, map.queries, map.keys);
      weights += static_cast<Index>(map.weights.size());
    }
    HEED_CHECK(weights <= kMostWeights, "{}: a page holds at most {} weights, but with this one there are {}", name,
               kMostWeights, weights);
  }
}

// The page of traces that have been checked.
void stream_page(std::span<const AttentionTrace> traces, const Sink& sink) {
  const std::string& model = traces.front().model;
  fill_in(kPageHtml, sink, [&](std::string_view name) {
    if (name == "title") return sink(escape_markup(model.empty() ? "Attention" : "Attention · " + model));
    if (name == "style") return sink(kPageCss);
    if (name == "script") return sink(kPageJs);
    if (name == "data") return stream_data(traces, sink);
    fail("write_attention_page: the template asks for an unknown part, {}", name);
  });
}

}  // namespace

void write_attention_page(const std::filesystem::path& path, std::span<const AttentionTrace> traces) {
  check(traces);
  FileWriter file(path);
  stream_page(traces, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

std::string attention_page(std::span<const AttentionTrace> traces) {
  check(traces);
  std::string page;
  stream_page(traces, [&](std::string_view piece) { page += piece; });
  return page;
}

}  // namespace heed
