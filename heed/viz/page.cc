#include "heed/viz/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/base/printable.h"
#include "heed/io/json.h"
#include "heed/io/json_stream.h"
#include "heed/observe/trace_json.h"
#include "heed/viz/colour.h"
#include "heed/viz/page_files.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostNumbers = 50'000'000;
constexpr std::array<std::string_view, 2> kLanguages = {"en", "zh"};

// The sequential colours, "rrggbb" each, from the colour of 0.
std::string palette() {
  constexpr int kSteps = 256;
  std::string names;
  for (int i = 0; i < kSteps; ++i) names += hex(sequential_colour(i / (kSteps - 1.0))).substr(1);
  return names;
}

// Weights in 65535ths of the way from the least to the most of them, which no picture tells from the bits and which is
// half of their size; other arrays, with which the page computes, as they are.
void write_packed(JsonStream& json, const std::string& field, const TraceArrayView& array) {
  if (!field.ends_with(".weights")) return write_array_inside(json, field, array);
  const auto [least, most] = std::ranges::minmax(array.values);
  const double range = static_cast<double>(most) - least;
  std::string bytes;
  bytes.reserve(2 * array.values.size());
  for (float value : array.values) {
    const double share = range > 0 ? (static_cast<double>(value) - least) / range : 0;
    const auto step = static_cast<unsigned>(std::lround(65535 * share));
    bytes += static_cast<char>(step & 255U);
    bytes += static_cast<char>(step >> 8U);
  }
  json.open_object();
  json.key("shape"), json.value(Json::array_of(array.shape));
  json.key("min"), json.number(least);
  json.key("max"), json.number(most);
  json.key("u16"), json.base64(bytes);
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

// What the page's script reads: {"palette": ..., "language": ..., "embedded": ..., "opens": an address's state,
// "file": a file of traces, weights packed}.
void stream_data(std::span<const AttentionTrace> traces, const PageOptions& options, const Sink& sink) {
  const Json about = Json::object({{"palette", palette()},
                                   {"language", options.language},
                                   {"embedded", options.fragment},
                                   {"opens", options.opens}});
  const std::string head = about.dump();
  sink(embeddable(std::string_view(head).substr(0, head.rfind('}'))) + ",\"file\":");
  stream_traces(
      traces, [&](std::string_view piece) { sink(embeddable(piece)); }, write_packed);
  sink("}");
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

void check_language(const PageOptions& options, const char* caller) {
  HEED_CHECK(std::ranges::find(kLanguages, options.language) != kLanguages.end(),
             "{}: the language must be {}, but is {}", caller, fmt::join(kLanguages, " or "),
             printable(options.language));
}

// Of all its arrays.
Index numbers_of(const AttentionTrace& trace) {
  std::size_t numbers = 0;
  for (const AttentionTrace::Map& map : trace.maps) {
    numbers += map.weights.size() + map.q.values.size() + map.k.values.size() + map.bias.values.size();
  }
  for (const AttentionTrace::Embeddings* side : {&trace.source_embeddings, &trace.decoder_embeddings}) {
    numbers += side->before.values.size() + side->after.values.size();
  }
  return static_cast<Index>(numbers);
}

void check(std::span<const AttentionTrace> traces, const PageOptions& options) {
  check_language(options, "write_attention_page");
  HEED_CHECK(!traces.empty(), "write_attention_page: there must be a trace, but there is none");
  Index numbers = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string name = fmt::format("write_attention_page: traces[{}]", i);
    validate(traces[i], name);
    HEED_CHECK(!traces[i].maps.empty(), "{}: must have a map, but has none", name);
    numbers += numbers_of(traces[i]);
    HEED_CHECK(numbers <= kMostNumbers, "{}: a page holds at most {} numbers, but with this one there are {}", name,
               kMostNumbers, numbers);
  }
}

// The page of traces that have been checked, or its fragment.
void stream_page(std::span<const AttentionTrace> traces, const PageOptions& options, const Sink& sink) {
  const std::string model = traces.empty() ? std::string() : traces.front().model;
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

void write_teaching_page(const std::filesystem::path& path, const PageOptions& options) {
  check_language(options, "write_teaching_page");
  FileWriter file(path);
  stream_page({}, options, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

std::string attention_page(std::span<const AttentionTrace> traces, const PageOptions& options) {
  check(traces, options);
  std::string page;
  stream_page(traces, options, [&](std::string_view piece) { page += piece; });
  return page;
}

}  // namespace heed
