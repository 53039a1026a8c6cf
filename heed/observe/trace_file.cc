#include "heed/observe/trace_file.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/observe/trace_json.h"

namespace heed {

std::string traces_to_text(std::span<const AttentionTrace> traces) {
  std::string text;
  stream_traces(
      traces, [&](std::string_view piece) { text += piece; }, write_array_inside);
  return text;
}

std::vector<AttentionTrace> parse_traces(std::string_view text, std::string_view name) {
  return traces_from_json(Json::parse(text, name), {});
}

void write_traces(const std::filesystem::path& path, std::span<const AttentionTrace> traces) {
  FileWriter writer(path);
  stream_traces(
      traces, [&](std::string_view piece) { writer.write(piece); }, write_array_inside);
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
