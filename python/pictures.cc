// Attention maps as data, and their pictures and pages.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "bindings.h"
#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/io/fields.h"
#include "heed/observe/trace_file.h"
#include "heed/tasks/light_traces.h"
#include "heed/viz/attention_figure.h"
#include "heed/viz/page.h"

namespace heed::python {
namespace {

using Trace = std::shared_ptr<AttentionTrace>;

AttentionKind kind_of(const std::string& name) {
  AttentionKind kind{};
  HEED_CHECK(enum_from_name(name, kind), "heed.Attention: kind must be one of {}, but is '{}'",
             enum_choices<AttentionKind>(), name);
  return kind;
}

// [(path, kind, layer, weights [heads, queries, keys])], the arrays on the trace's own memory.
py::list maps_of(const Trace& trace) {
  py::list maps;
  for (AttentionTrace::Map& map : trace->maps) {
    const View view = make_view(map.weights.data(), {map.heads, map.queries, map.keys});
    maps.append(py::make_tuple(map.path, std::string(enum_name(map.kind)), map.layer,
                               Library().give(Tensor::borrow(view, std::shared_ptr<void>(trace)))));
  }
  return maps;
}

AttentionTrace::Map copy_map(const std::string& path, const std::string& kind, py::handle array) {
  const Tensor weights = share_tensor("heed.Attention", path.c_str(), array);
  const View& view = weights.view();
  HEED_CHECK(view.rank == 3, "heed.Attention: {} must be [heads, queries, keys], but is {}", path, describe(view));
  AttentionTrace::Map map{
      .path = path, .kind = kind_of(kind), .heads = view.shape[0], .queries = view.shape[1], .keys = view.shape[2]};
  map.weights.resize(static_cast<std::size_t>(view.size()));
  copy(view, make_view(map.weights.data(), {map.heads, map.queries, map.keys}));
  return map;
}

Trace make_trace(const std::string& model, const std::string& source_text, const std::string& target_text,
                 std::vector<std::string> source_tokens, std::vector<std::string> decoder_tokens,
                 std::vector<std::string> target_tokens, const py::list& maps) {
  auto trace = std::make_shared<AttentionTrace>();
  trace->model = model, trace->source.text = source_text, trace->target.text = target_text;
  trace->source.tokens = std::move(source_tokens), trace->decoder.tokens = std::move(decoder_tokens);
  trace->target.tokens = std::move(target_tokens);
  for (const py::handle map : maps) {
    const auto [path, kind, weights] = map.cast<std::tuple<std::string, std::string, py::object>>();
    trace->maps.push_back(copy_map(path, kind, weights));
    AttentionTrace::Map& added = trace->maps.back();
    added.layer = std::ranges::count(trace->maps, added.kind, &AttentionTrace::Map::kind) - 1;
  }
  validate(*trace, "heed.Attention");
  return trace;
}

std::vector<AttentionTrace> copies(const std::vector<Trace>& traces) {
  std::vector<AttentionTrace> all;
  for (const Trace& trace : traces) all.push_back(*trace);
  return all;
}

std::vector<Trace> shared(std::vector<AttentionTrace> traces) {
  std::vector<Trace> all;
  for (AttentionTrace& trace : traces) all.push_back(std::make_shared<AttentionTrace>(std::move(trace)));
  return all;
}

Trace renamed(const AttentionTrace& trace, const std::string& model) {
  auto copy = std::make_shared<AttentionTrace>(trace);
  copy->model = model;
  return copy;
}

// The bytes of a picture of one map, of some heads, of all where there are none, as their mean or side by side.
py::bytes picture(const Trace& trace, Index map, const std::string& name, const std::vector<Index>& heads, bool mean,
                  bool lines, const std::optional<std::string>& word, const std::string& width, const std::string& font,
                  double font_size, const std::optional<std::string>& title) {
  std::string bytes;
  {
    const py::gil_scoped_release unlocked;
    HEED_CHECK(map >= 0 && map < std::ssize(trace->maps), "heed.Attention: there are {} maps, and no {}",
               trace->maps.size(), map);
    AttentionFigure figure{{.mean = mean, .chosen = heads}, lines, word, {.font_size = font_size, .font = font}};
    if (!width.empty()) figure.style.width = read_length(width);
    figure.style.title = title;
    bytes = render(draw_figure(*trace, trace->maps[static_cast<std::size_t>(map)], figure), picture_format(name));
  }
  return py::bytes(bytes);
}

}  // namespace

void add_pictures(py::module_& module) {
  py::class_<AttentionTrace, Trace>(module, "Trace")
      .def(py::init(&make_trace))
      .def_readonly("model", &AttentionTrace::model)
      .def_property_readonly("source_text", [](const AttentionTrace& trace) { return trace.source.text; })
      .def_property_readonly("target_text", [](const AttentionTrace& trace) { return trace.target.text; })
      .def_property_readonly("source_tokens", [](const AttentionTrace& trace) { return trace.source.tokens; })
      .def_property_readonly("decoder_tokens", [](const AttentionTrace& trace) { return trace.decoder.tokens; })
      .def_property_readonly("target_tokens", [](const AttentionTrace& trace) { return trace.target.tokens; })
      .def_property_readonly("maps", &maps_of)
      .def("renamed", &renamed);
  const py::call_guard<py::gil_scoped_release> unlocked;
  module.def(
      "traces_to_text", [](const std::vector<Trace>& traces) { return traces_to_text(copies(traces)); }, unlocked);
  module.def(
      "parse_traces", [](const std::string& text, const std::string& name) { return shared(parse_traces(text, name)); },
      unlocked);
  module.def(
      "read_traces", [](const std::filesystem::path& path) { return shared(read_traces(path)); }, unlocked);
  module.def(
      "write_traces",
      [](const std::filesystem::path& path, const std::vector<Trace>& traces) { write_traces(path, copies(traces)); },
      unlocked);
  module.def(
      "lighten",
      [](const std::vector<Trace>& traces) {
        std::vector<AttentionTrace*> all;
        for (const Trace& trace : traces) all.push_back(trace.get());
        return lighten(all);
      },
      unlocked, "Leaves out what would make a page of them too large; tells what that was.");
  module.def("picture", &picture);
  module.def(
      "page",
      [](const std::vector<Trace>& traces, const std::string& language, bool fragment) {
        return attention_page(copies(traces), {.language = language, .fragment = fragment});
      },
      unlocked, "The page, or a fragment of one, as text.");
  module.def(
      "write_file",
      [](const std::filesystem::path& path, const py::bytes& contents) {
        const std::string bytes = contents;
        const py::gil_scoped_release while_writing;
        write_file(path, bytes);
      },
      "Replaces the file, whole or not at all.");
}

}  // namespace heed::python
