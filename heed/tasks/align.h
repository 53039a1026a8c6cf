// Word alignments read off a model's cross-attention, and the head that aligns best.
//
//   AlignedText valid = read_aligned_text("valid.de", "valid.en", "valid.align"), test = ...;
//   AttentionHead head = search_attention_heads(model, valid).best().head;
//   score_alignments(align_with_attention(model, test, head), test.gold).error_rate;
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/index.h"
#include "heed/metrics/alignment.h"
#include "heed/tasks/model_folder.h"

namespace heed {

// Which decoder step's weights align a target token: that which produces it, or the next, which reads it. The step that
// reads knows the word it aligns, and did better in the deep models of Chen et al. 2020, "Accurate word alignment
// induction from neural machine translation"; in shallow ones the step that produces does.
enum class AlignmentStep { produces, reads };
inline constexpr std::pair<std::string_view, AlignmentStep> kAlignmentStepNames[] = {
    {"produces", AlignmentStep::produces}, {"reads", AlignmentStep::reads}};
inline std::span<const std::pair<std::string_view, AlignmentStep>> enum_names(AlignmentStep) {
  return kAlignmentStepNames;
}

// The weights that alignments are read off.
struct AttentionHead {
  std::string path;             // of a cross-attention layer (AttentionSite::path)
  std::optional<Index> head{};  // nothing: the mean of its heads
  AlignmentStep step = AlignmentStep::produces;
};

// "decoder.layers.2.multihead_attn, head 1, the step that reads".
std::string describe(const AttentionHead& head);

// Sentences, their translations, and which of their words belong together.
struct AlignedText {
  std::vector<std::string> source, target;
  std::vector<GoldAlignment> gold;
  std::string source_name, target_name;  // for errors
};

// Reads three files of as many lines each. Throws heed::Error naming them where they are not, and as the files' readers
// do.
AlignedText read_aligned_text(const std::filesystem::path& source, const std::filesystem::path& target,
                              const std::filesystem::path& gold, bool one_based = false);

// The part of each alignment token of `sentence` (alignment_tokens of heed/corpus/corpus.h) that each piece of
// vocabulary.encode(sentence) covers: [token][piece], as a share of the piece, told from the characters that they have
// between spaces. The shares of a piece add up to 1.
std::vector<std::vector<double>> piece_shares(const Vocabulary& vocabulary, std::string_view sentence);

// Runs the model over the pairs of sentences, teacher-forced, and links every target token to the source token that its
// steps attend to most: weights are summed over the pieces of both (piece_shares), the source's end token is left out,
// and the first of equals wins. A pair with a side without tokens has no links. Throws heed::Error naming the file and
// line of a sentence of more tokens than the model can hold, and for a head that the model does not have.
std::vector<AlignmentLinks> align_with_attention(const ModelFolder& folder, const AlignedText& text,
                                                 const AttentionHead& head);

struct AlignmentCandidate {
  AttentionHead head;
  AlignmentScore score;
};

struct AlignmentSearch {
  std::vector<AlignmentCandidate> candidates;  // layer by layer: the mean of its heads, then each; both steps of each

  // The one of least error rate, the first of equals.
  const AlignmentCandidate& best() const;
};

// Aligns the text with every head, and every mean of a layer's heads, at either step, and scores each against the gold
// alignments. Throws as align_with_attention does, and for a text without sentences or a model without
// cross-attention.
AlignmentSearch search_attention_heads(const ModelFolder& folder, const AlignedText& text);

}  // namespace heed
