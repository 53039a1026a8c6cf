// Attention traces: what was read and is written again reads the same, and is written with the same bytes.
#include "heed/observe/trace_file.h"

#include "property.h"

namespace heed::fuzz {
namespace {

void check(std::string_view text) {
  const auto traces = taken([&] { return parse_traces(text, "input"); });
  if (!traces) return;
  const std::string written = traces_to_text(*traces);
  const std::vector<AttentionTrace> again = parse_traces(written, "written");
  require(again == *traces, "what is written reads the same");
  require(traces_to_text(again) == written, "the same traces are the same bytes");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check(heed::fuzz::bytes_of(data, size));
  return 0;
}
