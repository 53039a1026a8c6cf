// The heads, the step and the rule that align best.
//
//   AlignedText valid = read_aligned_text("valid.de", "valid.en", "valid.align");
//   AlignmentChoice choice = search_alignments(model, valid).best().choice;      // judge it on other text
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/tasks/align.h"

namespace heed {

// Sentences, their translations, and which of their words belong together.
struct AlignedText {
  std::vector<std::string> source, target;
  std::vector<GoldAlignment> gold;
  std::string source_name = "source", target_name = "target", gold_name = "gold";  // for errors

  TextPairs pairs() const { return {source, target, source_name, target_name}; }
  // The same from target to source.
  AlignedText reversed() const;
};

// Reads three files of as many lines each. Throws heed::Error naming them where they are not, and as the files' readers
// do.
AlignedText read_aligned_text(const std::filesystem::path& source, const std::filesystem::path& target,
                              const std::filesystem::path& gold, bool one_based = false);

struct AlignmentCandidate {
  AlignmentChoice choice;  // with the best of its rules
  AlignmentScore score;
};

// The rule by which the alignments of some pairs agree best with their gold, of those that search_alignments tries: the
// first of equals.
struct RuleSearch {
  LinkRule rule;
  AlignmentScore score;
};
RuleSearch search_rules(std::span<const SoftAlignment> soft, std::span<const GoldAlignment> gold);

struct AlignmentSearch {
  std::vector<AlignmentCandidate> candidates;
  std::vector<SoftAlignment> soft;  // of each pair of the text, as the best of them reads it

  // The one of least error rate, the first of equals.
  const AlignmentCandidate& best() const;
};

// Aligns the text and scores it against its gold, at either step: by the mean of each layer's heads, by each head, and
// by the mean of the best head with others, of any layer, that are added one by one, each time the one that helps most,
// as long as one helps. Each is tried as it is and balanced, with punctuation apart and not, with thresholds of 0.05,
// 0.1, ... 0.95, without one, and then also with free words from 0.05, 0.1, ... 0.5. Memory: twice the weights of all
// heads over the text. Throws as visit_alignments does, and for a text without a sentence that has tokens.
AlignmentSearch search_alignments(const ModelFolder& folder, const AlignedText& text);

}  // namespace heed
