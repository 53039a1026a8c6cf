#include <limits>
#include <utility>

#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

const std::vector<std::string> kWords{"the", "cat", "sat", "<pad>"};

LabelledMatrix word_by_word(const std::string& name, const Tensor& heads) {
  return label_matrix(name, head_of(heads.view(), 0), kWords, kWords);
}

LabelledMatrix of_words(const std::string& name, const ConstView& matrix) {
  return label_matrix(name, matrix, kWords, numbered_labels("d", matrix.shape[1]));
}

// 1 where a query may attend to a key: where the masked score is finite.
LabelledMatrix allowed(const AttentionStages& stages) {
  LabelledMatrix matrix = word_by_word("allowed", stages.masked);
  for (double& value : matrix.values) value = value == -std::numeric_limits<double>::infinity() ? 0 : 1;
  return matrix;
}

std::vector<LabelledMatrix> under(const AttentionStages& stages) {
  return {allowed(stages), word_by_word("masked", stages.masked), word_by_word("weights", stages.weights)};
}

LabelledMatrix pictured(const std::string& name, const AttentionStages& stages) {
  return word_by_word(name, stages.weights);
}

}  // namespace

Explanation explain_masks(Language language) {
  // K is 2 I and d_k is 4, so that the scaled scores are Q itself.
  const Tensor q = small_matrix({{2, 1, 0, 1}, {1, 2, 1, 0}, {0, 1, 2, 1}, {1, 0, 1, 2}});
  const Tensor k = small_matrix({{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 2}});
  const Tensor v = small_matrix({{1, 0}, {0, 1}, {1, 1}, {9, 9}});
  const auto attend = [&](const Mask& mask) {
    return compute_attention_stages(as_one_head(q).view(), as_one_head(k).view(), as_one_head(v).view(),
                                    {.mask = mask});
  };
  const Mask padding = Mask::key_lengths(Tensor::from(std::vector<Index>{3}, {1}));
  const AttentionStages causal = attend(Mask::causal()), padded = attend(padding),
                        both = attend(Mask::causal() & padding);

  WalkWriter walk("masks", language);
  walk.add("inputs", "Q [4, 4], K [4, 4], V [4, 2]",
           {of_words("Q", q.view()), of_words("K", k.view()), of_words("V", v.view())});
  walk.add("scaled", "scaled = Q K^T / sqrt(4)", {word_by_word("scaled", causal.scaled)});
  walk.add("causal", "allowed(i, j) = j <= i", under(causal));
  walk.add("padding", "allowed(i, j) = j <= 3", under(padded));
  walk.add("both", "allowed(i, j) = j <= i and j <= 3", under(both));
  walk.add("output", "output = weights V", {of_words("output", head_of(both.out.view(), 0))});
  return std::move(walk).finish({pictured("causal", causal), pictured("padding", padded), pictured("both", both)});
}

}  // namespace heed
