#include "heed/viz/page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/io/json.h"
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
Json thousandths(const std::vector<float>& weights) {
  constexpr double kLargest = 1e9;
  std::vector<Index> rounded;
  rounded.reserve(weights.size());
  for (float weight : weights) rounded.push_back(std::llround(std::clamp(1000.0 * weight, -kLargest, kLargest)));
  return Json::array_of(rounded);
}

Json map_json(const AttentionTrace::Map& map) {
  const std::optional<Index> layer = layer_of(map.path);
  return Json::object({{"path", visible_text(map.path)},
                       {"layer", layer ? Json(*layer) : Json()},
                       {"kind", enum_name(map.kind)},
                       {"heads", map.heads},
                       {"queries", map.queries},
                       {"keys", map.keys},
                       {"weights", thousandths(map.weights)}});
}

Json trace_json(const AttentionTrace& trace) {
  std::vector<Json> maps;
  for (const AttentionTrace::Map& map : trace.maps) maps.push_back(map_json(map));
  return Json::object({{"model", visible_text(trace.model)},
                       {"source_text", visible_text(trace.source_text)},
                       {"target_text", visible_text(trace.target_text)},
                       {"source", tokens(trace.source_tokens)},
                       {"decoder", tokens(trace.decoder_tokens)},
                       {"target", tokens(trace.target_tokens)},
                       {"maps", Json::array(std::move(maps))}});
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

// The template with each {{name}} replaced, in one pass: what is put in is not looked through again.
std::string fill_in(std::string_view page, std::initializer_list<std::pair<std::string_view, std::string_view>> parts) {
  std::string out;
  for (;;) {
    const std::size_t open = page.find("{{");
    out += page.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    HEED_CHECK(close != std::string_view::npos, "attention_page: the template has an open {{{{");
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto* part = std::ranges::find(parts, name, &std::pair<std::string_view, std::string_view>::first);
    HEED_CHECK(part != parts.end(), "attention_page: the template asks for an unknown part, {}", name);
    out += part->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace

std::string attention_page(std::span<const AttentionTrace> traces) {
  HEED_CHECK(!traces.empty(), "attention_page: there must be a trace, but there is none");
  Index weights = 0;
  std::vector<Json> list;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string name = fmt::format("attention_page: trace {}", i);
    validate(traces[i], name);
    HEED_CHECK(!traces[i].maps.empty(), "{}: must have a map, but has none", name);
    for (const AttentionTrace::Map& map : traces[i].maps) {
      HEED_CHECK(!map.weights.empty(), "{}: {}: must have weights, but is {} x {} x {}", name, visible_text(map.path),
                 map.heads, map.queries, map.keys);
      weights += static_cast<Index>(map.weights.size());
    }
    HEED_CHECK(weights <= kMostWeights, "{}: a page holds at most {} weights, but with this one there are {}", name,
               kMostWeights, weights);
    list.push_back(trace_json(traces[i]));
  }
  Json data = Json::object({{"light", colours(Theme::light)}, {"dark", colours(Theme::dark)}});
  data.set("traces", Json::array(std::move(list)));
  const std::string json = embeddable(data.dump());
  const std::string& model = traces.front().model;
  const std::string title = escape_markup(model.empty() ? "Attention" : "Attention · " + model);
  return fill_in(kPageHtml, {{"title", title}, {"style", kPageCss}, {"script", kPageJs}, {"data", json}});
}

}  // namespace heed
