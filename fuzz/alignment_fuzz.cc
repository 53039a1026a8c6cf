// Word alignments: what was read and is written again reads the same, links are gold that is sure, and rates are rates.
#include "heed/metrics/alignment.h"

#include "heed/base/text_lines.h"
#include "property.h"

namespace heed::fuzz {
namespace {

bool is_rate(double value) { return value >= 0 && value <= 1; }

void check_format(const std::vector<std::string>& lines, const AlignmentFormat& format) {
  const auto links = taken([&] { return parse_alignments(lines, format); });
  const auto gold = taken([&] { return parse_gold_alignments(lines, format); });
  require(!links || gold, "what reads as links reads as gold");
  if (!gold) return;
  std::vector<AlignmentLinks> possible;
  for (const GoldAlignment& one : *gold) possible.push_back(one.possible);
  const AlignmentScore score = score_alignments(links.value_or(possible), *gold);
  require(is_rate(score.precision) && is_rate(score.recall) && is_rate(score.f1) && is_rate(score.error_rate),
          "a rate is from 0 to 1");
  require(score.precision == (score.links > 0 ? 1 : 0), "links that gold has are right");
  if (!links) return;
  require(score.error_rate == 0, "links that are gold have no error");
  std::vector<std::string> written;
  for (const AlignmentLinks& one : *links) written.push_back(format_alignment(one));
  require(parse_alignments(written) == *links, "what is written reads the same");
}

void check_alignment(std::string_view text) {
  const auto lines = taken([&] { return split_text_lines(text, "input"); });
  if (!lines) return;
  check_format(*lines, {.name = "input"});
  check_format(*lines, {.name = "input", .one_based = true});
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_alignment(heed::fuzz::bytes_of(data, size));
  return 0;
}
