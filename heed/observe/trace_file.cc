#include "heed/observe/trace_file.h"

#include <optional>

#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/base/name_ending.h"
#include "heed/io/npz.h"
#include "heed/observe/trace_json.h"

namespace heed {
namespace {

constexpr const char* kEntry = "traces.json";  // of an archive: all but its arrays

bool is_archive(const std::filesystem::path& path) { return name_ending(path) == ".npz"; }

TraceArray array_of(const NpzReader& archive, const std::string& name) {
  const NpyArray array = archive.array(name);
  const Tensor numbers = array.elements.dtype() == DType::f32 ? array.elements : array.elements.to(DType::f32);
  const float* begin = numbers.data<float>();
  return {array.shape, {begin, begin + numbers.size()}};
}

void check(std::span<const AttentionTrace> traces) {
  for (std::size_t i = 0; i < traces.size(); ++i) validate(traces[i], fmt::format("traces[{}]", i));
}

// With arrays in the archive under the names of their fields.
NpzWriter archive_of(std::span<const AttentionTrace> traces) {
  NpzWriter writer;
  std::string text;
  stream_traces(
      traces, [&](std::string_view piece) { text += piece; },
      [&](JsonStream& json, const std::string& field, const TraceArrayView& array) {
        const auto& shape = array.shape;
        const float* numbers = array.values.data();
        writer.add(field, shape.size() == 2 ? make_view(numbers, {shape[0], shape[1]})
                                            : make_view(numbers, {shape[0], shape[1], shape[2]}));
        json.open_object();
        json.key("shape"), json.value(Json::array_of(shape));
        json.key("npz"), json.value(field);
        json.close();
      });
  writer.add_text(kEntry, std::move(text));
  return writer;
}

}  // namespace

std::string traces_to_text(std::span<const AttentionTrace> traces) {
  check(traces);
  std::string text;
  stream_traces(
      traces, [&](std::string_view piece) { text += piece; }, write_array_inside);
  return text;
}

std::vector<AttentionTrace> parse_traces(std::string_view text, std::string_view name) {
  return traces_from_json(Json::parse(text, name), {});
}

void write_traces(const std::filesystem::path& path, std::span<const AttentionTrace> traces) {
  check(traces);
  if (is_archive(path)) return archive_of(traces).save(path);
  FileWriter writer(path);
  stream_traces(
      traces, [&](std::string_view piece) { writer.write(piece); }, write_array_inside);
  writer.commit();
}

std::vector<AttentionTrace> read_trace_archive(const NpzReader& archive) {
  const Json file = Json::parse(archive.text(kEntry), fmt::format("{}: {}", archive.name(), kEntry));
  return traces_from_json(file, [&](const std::string& name) { return array_of(archive, name); });
}

std::vector<AttentionTrace> read_traces(const std::filesystem::path& path) {
  if (is_archive(path)) return read_trace_archive(NpzReader(path));
  std::optional<NpzReader> beside;  // opened where an array is in it
  return traces_from_json(read_json(path), [&](const std::string& name) {
    if (!beside) beside.emplace(std::filesystem::path(path).replace_extension(".npz"));
    return array_of(*beside, name);
  });
}

void write_trace(const std::filesystem::path& path, const AttentionTrace& trace) { write_traces(path, {&trace, 1}); }

AttentionTrace read_trace(const std::filesystem::path& path) {
  std::vector<AttentionTrace> traces = read_traces(path);
  HEED_CHECK(traces.size() == 1, "{}: must hold one trace, but holds {}", path.string(), traces.size());
  return std::move(traces.front());
}

}  // namespace heed
