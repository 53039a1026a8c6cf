// Word alignments read off a model's cross-attention.
//
//   AlignmentChoice choice{.heads = {{.layer = 0, .head = 5}, {.layer = 1, .head = 3}}};
//   const std::vector<SoftAlignment> soft = soft_alignments(model, {.source = german, .target = english}, choice);
//   AlignmentLinks links = links_of(soft[0], choice.rule);
#pragma once

#include <compare>
#include <functional>
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

// One head of a model's cross-attention.
struct AttentionHead {
  Index layer = 0, head = 0;
  friend auto operator<=>(const AttentionHead&, const AttentionHead&) = default;  // NOLINT: no pointer
};

// Which weights are links.
struct LinkRule {
  double threshold = 0;          // those of at least this; 0: of each target token the largest, the first of equals
  std::optional<double> free{};  // without a threshold: a source token that is left without a link then has one to the
                                 // target token that gives it most weight, where that is at least this
  bool apart = false;            // weights between words and punctuation count as 0, and free punctuation stays free
  bool balance = false;          // weights are balanced before
  friend bool operator==(const LinkRule&, const LinkRule&) = default;
};

// What alignments are read off, and how.
struct AlignmentChoice {
  std::vector<AttentionHead> heads{};  // whose mean counts; none: all of the last layer
  AlignmentStep step = AlignmentStep::produces;
  LinkRule rule{};
};

// "heads 0:5, 1:3 (layer:head), the step that reads, links from 0.3".
std::string describe(const AlignmentChoice& choice);
// ", punctuation apart, balanced, links from 0.3"; nothing for what each target token has most.
std::string describe(const LinkRule& rule);

// How much each target token attends to each source token, of one sentence pair.
struct SoftAlignment {
  Index source = 0, target = 0;                      // alignment_tokens of each side (heed/corpus/corpus.h)
  std::vector<float> weights{};                      // [target, source]
  std::vector<bool> source_marks{}, target_marks{};  // which tokens are punctuation; none: no token is

  float weight(Index target_token, Index source_token) const {
    return weights[static_cast<std::size_t>(target_token * source + source_token)];
  }
  float& weight(Index target_token, Index source_token) {
    return weights[static_cast<std::size_t>(target_token * source + source_token)];
  }
};

// Words look at words, and punctuation at punctuation: all other weights are 0. A word that needs nothing of the source
// ("to", "that") often rests on a comma or the full stop, which says as little about it as an end token would.
SoftAlignment kept_apart(SoftAlignment soft);

// Words compete for each other: again and again each source token's weights are divided by their sum, and then each
// target token's (Sinkhorn 1967; five rounds, after 1e-4 was added to each weight). A word that several attend to is
// then left to the one that has no other.
SoftAlignment balanced(SoftAlignment soft);

// What both directions agree on (Liang, Taskar, Klein 2006, "Alignment by agreement"): the root of the product of the
// weights of a model from source to target and of one from target to source, 0.003 added to each. `backward` is of the
// texts the other way round. Throws heed::Error where the tokens are not as many.
SoftAlignment agreement(const SoftAlignment& forward, const SoftAlignment& backward);

// In order. A token whose weights are all 0 has no link.
AlignmentLinks links_of(const SoftAlignment& soft, const LinkRule& rule = {});

// Sentences and their translations, and what errors call them. Holds on to all of them.
struct TextPairs {
  std::span<const std::string> source, target;
  std::string_view source_name = "source", target_name = "target";
  Index first_line = 1;
};

// The heads of each layer of cross-attention of a model that translates text, from the first layer. Throws heed::Error
// for another model.
std::vector<std::vector<AttentionHead>> cross_attention_heads(const ModelFolder& folder);

// Runs the model over the pairs, teacher-forced, and gives each one's weights: summed over the pieces of a source
// token, the mean over those of a target token (piece_shares), the mean over the heads. The weight of the source's end
// token is nobody's, so that a row sums to at most 1. A pair with a side without tokens has no weights. Which pairs are
// given together changes no bit. Throws heed::Error naming the file and line of a sentence of more tokens than the
// model can hold, and for a layer or a head that the model does not have.
std::vector<SoftAlignment> soft_alignments(const ModelFolder& folder, const TextPairs& text,
                                           const AlignmentChoice& choice);

// The same, of each head by itself: visit(pair, step, alignments), for every pair with tokens and each of the steps,
// with one alignment for each of the heads, in no particular order of pairs. The model runs once for all steps. Memory:
// the weights of the heads' layers over a thousand tokens, or over one pair that is longer.
using VisitAlignments =
    std::function<void(std::size_t pair, AlignmentStep step, std::span<const SoftAlignment> of_heads)>;
void visit_alignments(const ModelFolder& folder, const TextPairs& text, std::span<const AttentionHead> heads,
                      std::span<const AlignmentStep> steps, const VisitAlignments& visit);

// The mean of some of one pair's alignments, by their indices, at least one.
SoftAlignment mean_of(std::span<const SoftAlignment> alignments, std::span<const Index> chosen);

}  // namespace heed
