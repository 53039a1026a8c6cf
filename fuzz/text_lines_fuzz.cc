// Text: the reader of whole texts and the one that reads as lines come agree on every line and on every refusal.
#include "heed/base/text_lines.h"

#include <algorithm>
#include <iterator>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

struct Outcome {
  std::vector<std::string> lines;  // before the refusal, where there is one
  std::string refusal;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome read(const std::filesystem::path& file, Index most_lines, TextLineReader::LongLine long_line) {
  Outcome outcome;
  TextLineReader reader(file, long_line);
  try {
    for (;;) {
      std::vector<std::string> lines = reader.read(most_lines);
      if (lines.empty()) return outcome;
      require(static_cast<Index>(lines.size()) <= most_lines, "no more lines come than were asked for");
      std::ranges::move(lines, std::back_inserter(outcome.lines));
    }
  } catch (const Error& error) {
    outcome.refusal = error.what();
    return outcome;
  }
}

void check_text_lines(std::string_view text) {
  const std::filesystem::path file = scratch_file("text", text);
  const auto split = taken([&] { return split_text_lines(text, file.string()); });
  const Outcome whole = read(file, std::numeric_limits<Index>::max(), TextLineReader::LongLine::refuse);
  require(split.has_value() == whole.refusal.empty(), "both readers take the same texts");
  require(!split || *split == whole.lines, "both readers see the same lines");
  require(read(file, 3, TextLineReader::LongLine::refuse) == whole, "three lines at a time are the same lines");
  const Outcome cut = read(file, 3, TextLineReader::LongLine::cut);
  require(!split || cut == whole, "where no line is long, none is cut");
  for (const std::string& line : cut.lines) {
    require(
        line.size() <= kLongestLine && valid_utf8(line) && line.find_first_of(std::string_view("\n\0", 2)) == line.npos,
        "a line is UTF-8 of a limited length");
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_text_lines(heed::fuzz::bytes_of(data, size));
  return 0;
}
