// Archives of arrays: whatever the bytes are, entries are read or refused; what was read and is written again reads the
// same; and one that holds traces gives traces or an error.
#include "heed/io/npz.h"

#include "heed/observe/trace_file.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_npz(std::string_view bytes) {
  const auto reader = taken([&] { return NpzReader(std::string(bytes), "input"); });
  if (!reader) return;
  NpzWriter writer;
  std::vector<std::pair<std::string, std::string>> read;
  for (const std::string& entry : reader->entries()) {
    const auto text = taken([&] { return reader->text(entry); });
    if (!text || entry.empty()) continue;
    if (entry.ends_with(".npy")) taken([&] { return parse_npy_array(*text, entry); });
    writer.add_text(entry, *text);
    read.emplace_back(entry, *text);
  }
  if (!read.empty()) {
    const NpzReader again(writer.bytes(), "written");
    for (const auto& [entry, text] : read) require(again.text(entry) == text, "what is written reads the same");
  }
  taken([&] { return read_trace_archive(*reader); });
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_npz(heed::fuzz::bytes_of(data, size));
  return 0;
}
