// Word alignments in the Pharaoh form, and the alignment error rate (Och & Ney 2003, "A systematic comparison of
// various statistical alignment models", section 5).
//
//   auto links = parse_alignments(read_text_lines("out.align"), {.name = "out.align"});            // "0-0 1-2"
//   auto gold = parse_gold_alignments(read_text_lines("gold"), {.name = "gold", .one_based = true});   // "1-1 2p3"
//   AlignmentScore score = score_alignments(links, gold);
//   score.summary();                    // "AER = 4.07 (precision = 96.27 recall = 95.42 f1 = 95.84 links = 6038)"
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// Word `source` of the source sentence belongs to word `target` of the target sentence; both count from 0.
struct AlignmentLink {
  Index source = 0;
  Index target = 0;
  friend auto operator<=>(const AlignmentLink&, const AlignmentLink&) = default;  // NOLINT: no pointer
};

// The links of one sentence pair, in order, each once.
using AlignmentLinks = std::vector<AlignmentLink>;

struct GoldAlignment {
  AlignmentLinks sure;
  AlignmentLinks possible;  // the sure ones among them
};

struct AlignmentFormat {
  std::string_view name = "alignment";  // of the file, for errors
  bool one_based = false;               // the first word is 1 in the text
};

// Reads one line for each sentence pair: links "i-j", with white space between; an empty line has none. A link given
// twice counts once. Throws heed::Error naming the file and line for anything else, such as a 'p' link, a negative
// number, one past 2147483647, or 0 where words count from 1.
std::vector<AlignmentLinks> parse_alignments(std::span<const std::string> lines, const AlignmentFormat& format = {});

// Reads gold lines, where "i-j" is a sure link and "ipj" one that is possible. One given as both is sure.
std::vector<GoldAlignment> parse_gold_alignments(std::span<const std::string> lines,
                                                 const AlignmentFormat& format = {});

// Writes links as parse_alignments reads them, counting from 0.
std::string format_alignment(std::span<const AlignmentLink> links);

// All rates are 0 to 1. For the links A, the sure S and the possible P, S within P, each summed over the sentence
// pairs:
struct AlignmentScore {
  double precision = 0;   // |A and P| / |A|, 0 without links
  double recall = 0;      // |A and S| / |S|, 0 without sure links
  double f1 = 0;          // 2 precision recall / (precision + recall), 0 where both are
  double error_rate = 0;  // AER = 1 - (|A and S| + |A and P|) / (|A| + |S|), 0 without links and sure links
  Index links = 0;        // |A|
  Index sure = 0;         // |S|
  Index in_sure = 0;      // |A and S|
  Index in_possible = 0;  // |A and P|

  static AlignmentScore from_counts(Index links, Index sure, Index in_sure, Index in_possible);
  // One line, in percent.
  std::string summary() const;
};

// Scores the links of each sentence pair against its gold; neither needs to be sorted. Links outside their sentences
// are links like others. Throws heed::Error where the numbers of sentence pairs differ.
AlignmentScore score_alignments(std::span<const AlignmentLinks> alignments, std::span<const GoldAlignment> gold);

}  // namespace heed
