#include "heed/viz/page.h"

#include <fmt/format.h>

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
#include "heed/base/printable.h"
#include "heed/io/fields.h"
#include "heed/io/json.h"
#include "heed/io/json_stream.h"
#include "heed/viz/attention_picture.h"
#include "heed/viz/colour.h"
#include "heed/viz/page_files.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostWeights = 50'000'000;
constexpr std::array<std::string_view, 2> kLanguages = {"en", "zh"};

// The sequential colours, "rrggbb" each, from the colour of 0.
std::string palette() {
  constexpr int kSteps = 256;
  std::string names;
  for (int i = 0; i < kSteps; ++i) names += hex(sequential_colour(i / (kSteps - 1.0))).substr(1);
  return names;
}

Json tokens(const std::vector<std::string>& list) {
  std::vector<std::string> shown;
  for (const std::string& token : list) shown.push_back(visible_text(token));
  return Json::array_of(shown);
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned>(bytes[at]) : 0U; };
    const unsigned three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (const unsigned shift : {18U, 12U, 6U, 0U}) text += kLetters[three >> shift & 63U];
  }
  if (bytes.size() % 3 != 0) std::fill(text.end() - static_cast<std::ptrdiff_t>(3 - bytes.size() % 3), text.end(), '=');
  return text;
}

// In 65535ths of the way from the least to the most of them: a third of the size of decimals.
void stream_packed(JsonStream& json, std::span<const Index> shape, std::span<const float> values) {
  const auto [least, most] = std::ranges::minmax(values);
  const double range = static_cast<double>(most) - least;
  std::vector<unsigned char> bytes;
  bytes.reserve(2 * values.size());
  for (float value : values) {
    const double share = range > 0 ? (static_cast<double>(value) - least) / range : 0;
    const auto step = static_cast<unsigned>(std::lround(65535 * share));
    bytes.push_back(static_cast<unsigned char>(step & 255U));
    bytes.push_back(static_cast<unsigned char>(step >> 8U));
  }
  json.open_object();
  json.key("shape"), json.value(Json::array_of(shape));
  json.key("min"), json.number(least);
  json.key("max"), json.number(most);
  json.key("u16"), json.value(base64(bytes));
  json.close();
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
  json.key("weights"), stream_packed(json, std::array{map.heads, map.queries, map.keys}, map.weights);
  json.close();
}

void stream_side(JsonStream& json, std::string_view text, const std::vector<std::string>& list) {
  json.open_object();
  json.key("text"), json.value(visible_text(text));
  json.key("tokens"), json.value(tokens(list));
  json.close();
}

void stream_trace(JsonStream& json, const AttentionTrace& trace) {
  json.open_object();
  json.key("model"), json.value(visible_text(trace.model));
  json.key("source"), stream_side(json, trace.source_text, trace.source_tokens);
  json.key("decoder"), stream_side(json, trace.target_text, trace.decoder_tokens);
  json.key("target"), stream_side(json, trace.target_text, trace.target_tokens);
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

// The data of the page, which its script reads (page/trace.js).
void stream_data(std::span<const AttentionTrace> traces, const PageOptions& options, const Sink& sink) {
  JsonStream json([&](std::string_view piece) { sink(embeddable(piece)); });
  json.open_object();
  json.key("palette"), json.value(palette());
  json.key("language"), json.value(options.language);
  json.key("embedded"), json.value(options.fragment);
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

void check(std::span<const AttentionTrace> traces, const PageOptions& options) {
  HEED_CHECK(std::ranges::find(kLanguages, options.language) != kLanguages.end(),
             "write_attention_page: the language must be {}, but is {}", fmt::join(kLanguages, " or "),
             printable(options.language));
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

// The page of traces that have been checked, or its fragment.
void stream_page(std::span<const AttentionTrace> traces, const PageOptions& options, const Sink& sink) {
  const std::string& model = traces.front().model;
  const std::function<void(std::string_view)> write = [&](std::string_view name) {
    if (name == "title") return sink(escape_markup(model.empty() ? "Attention" : "Attention · " + model));
    if (name == "language") return sink(options.language);
    if (name == "script-hash") return sink(kPageSha256);
    if (name == "script") return sink(kPageJs);
    if (name == "data") return stream_data(traces, options, sink);
    if (name == "fragment") return fill_in(kFragmentHtml, sink, write);
    fail("write_attention_page: the template asks for an unknown part, {}", name);
  };
  fill_in(options.fragment ? kFragmentHtml : kPageHtml, sink, write);
}

}  // namespace

void write_attention_page(const std::filesystem::path& path, std::span<const AttentionTrace> traces,
                          const PageOptions& options) {
  check(traces, options);
  FileWriter file(path);
  stream_page(traces, options, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

std::string attention_page(std::span<const AttentionTrace> traces, const PageOptions& options) {
  check(traces, options);
  std::string page;
  stream_page(traces, options, [&](std::string_view piece) { page += piece; });
  return page;
}

}  // namespace heed
