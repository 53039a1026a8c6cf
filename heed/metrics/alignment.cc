#include "heed/metrics/alignment.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

constexpr Index kMaxWord = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kSpaces = " \t\r\n\v\f";
constexpr std::size_t kShownBytes = 40;  // of a link, in an error

struct ParsedLink {
  AlignmentLink link;
  bool sure;
};

// Reads a number from the front of text, if one stands there.
bool read_word(std::string_view& text, Index& word) {
  // from_chars takes a minus sign, which here is what separates.
  if (text.empty() || text.front() == '-') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() && word <= kMaxWord;
}

ParsedLink parse_link(std::string_view item, const AlignmentFormat& format, std::size_t line) {
  const Index first = format.one_based ? 1 : 0;
  std::string_view rest = item;
  Index source = 0, target = 0;
  char kind = 0;
  bool good = read_word(rest, source) && !rest.empty();
  if (good) {
    kind = rest.front();
    rest.remove_prefix(1);
    good = (kind == '-' || kind == 'p') && read_word(rest, target) && rest.empty();
  }
  HEED_CHECK(good, "{}:{}: a link must read i-j or ipj, but is '{}'", format.name, line, printable(item, kShownBytes));
  HEED_CHECK(source >= first && target >= first, "{}:{}: words count from {}, but a link is '{}'", format.name, line,
             first, printable(item, kShownBytes));
  return {{source - first, target - first}, kind == '-'};
}

std::vector<ParsedLink> parse_line(std::string_view text, const AlignmentFormat& format, std::size_t line) {
  std::vector<ParsedLink> links;
  std::size_t begin = text.find_first_not_of(kSpaces);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
    links.push_back(parse_link(text.substr(begin, end - begin), format, line));
    begin = text.find_first_not_of(kSpaces, end);
  }
  return links;
}

void sort_once(AlignmentLinks& links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

AlignmentLinks sorted(AlignmentLinks links) {
  sort_once(links);
  return links;
}

Index count_common(const AlignmentLinks& a, const AlignmentLinks& b) {
  AlignmentLinks common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return static_cast<Index>(common.size());
}

double ratio(Index part, Index whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<AlignmentLinks> parse_alignments(std::span<const std::string> lines, const AlignmentFormat& format) {
  std::vector<AlignmentLinks> alignments;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    AlignmentLinks& links = alignments.emplace_back();
    for (const ParsedLink& parsed : parse_line(lines[i], format, i + 1)) {
      HEED_CHECK(parsed.sure, "{}:{}: only gold has possible links ('p')", format.name, i + 1);
      links.push_back(parsed.link);
    }
    sort_once(links);
  }
  return alignments;
}

std::vector<GoldAlignment> parse_gold_alignments(std::span<const std::string> lines, const AlignmentFormat& format) {
  std::vector<GoldAlignment> alignments;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    GoldAlignment& gold = alignments.emplace_back();
    for (const ParsedLink& parsed : parse_line(lines[i], format, i + 1)) {
      if (parsed.sure) gold.sure.push_back(parsed.link);
      gold.possible.push_back(parsed.link);
    }
    sort_once(gold.sure);
    sort_once(gold.possible);
  }
  return alignments;
}

std::string format_alignment(std::span<const AlignmentLink> links) {
  std::string text;
  for (const AlignmentLink& link : links)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", link.source, link.target);
  return text;
}

std::string AlignmentScore::summary() const {
  return fmt::format("AER = {:.2f} (precision = {:.2f} recall = {:.2f} f1 = {:.2f} links = {})", 100 * error_rate,
                     100 * precision, 100 * recall, 100 * f1, links);
}

AlignmentScore AlignmentScore::from_counts(Index links, Index sure, Index in_sure, Index in_possible) {
  AlignmentScore score{.links = links, .sure = sure, .in_sure = in_sure, .in_possible = in_possible};
  score.precision = ratio(in_possible, links);
  score.recall = ratio(in_sure, sure);
  if (score.precision + score.recall > 0) {
    score.f1 = 2 * score.precision * score.recall / (score.precision + score.recall);
  }
  if (links + sure > 0) score.error_rate = 1 - ratio(in_sure + in_possible, links + sure);
  return score;
}

AlignmentScore score_alignments(std::span<const AlignmentLinks> alignments, std::span<const GoldAlignment> gold) {
  HEED_CHECK(alignments.size() == gold.size(), "score_alignments: {} alignments, but gold for {} sentence pairs",
             alignments.size(), gold.size());
  Index found = 0, all_sure = 0, in_sure = 0, in_possible = 0;
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const AlignmentLinks links = sorted(alignments[i]);
    const AlignmentLinks sure = sorted(gold[i].sure);
    AlignmentLinks possible = gold[i].possible;
    possible.insert(possible.end(), sure.begin(), sure.end());
    sort_once(possible);
    found += static_cast<Index>(links.size());
    all_sure += static_cast<Index>(sure.size());
    in_sure += count_common(links, sure);
    in_possible += count_common(links, possible);
  }
  return AlignmentScore::from_counts(found, all_sure, in_sure, in_possible);
}

}  // namespace heed
