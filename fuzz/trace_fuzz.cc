// Attention traces: what was read and is written again reads the same, and is written with the same bytes. What was
// read is drawn or refused.
#include "heed/observe/trace_file.h"
#include "heed/viz/attention_picture.h"
#include "heed/viz/picture_attention.h"
#include "property.h"

namespace heed::fuzz {
namespace {

// Up to where text would be measured, which is slow, and of libraries that are not instrumented.
void draw(const AttentionTrace& trace) {
  for (const AttentionTrace::Map& map : trace.maps) {
    const auto heatmap = taken([&] { return attention_heatmap(trace, map); });
    require(!heatmap || heatmap->panels[0].values.size() == map.weights.size() / static_cast<std::size_t>(map.heads),
            "the mean of the heads has a cell for each query and key");
    taken([&] { return patch_maps(trace, map); });
    taken([&] { return draw_picture_attention(trace_image(trace), word_patch_maps(trace, map), trace.model); });
  }
}

void check_trace(std::string_view text) {
  const auto traces = taken([&] { return parse_traces(text, "input"); });
  if (!traces) return;
  const std::string written = traces_to_text(*traces);
  const std::vector<AttentionTrace> again = parse_traces(written, "written");
  require(again == *traces, "what is written reads the same");
  require(traces_to_text(again) == written, "the same traces are the same bytes");
  for (const AttentionTrace& trace : *traces) draw(trace);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_trace(heed::fuzz::bytes_of(data, size));
  return 0;
}
