#include <limits>
#include <utility>

#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/word_labels.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

const WordLabels kFourWords{{"the", "cat", "sat", "<pad>"}};

// 1 where a query may attend to a key: where the masked score is finite.
LabelledMatrix allowed(const AttentionStages& stages) {
  LabelledMatrix matrix = kFourWords.pairs("allowed", stages.masked);
  for (double& value : matrix.values) value = value == -std::numeric_limits<double>::infinity() ? 0 : 1;
  return matrix;
}

std::vector<LabelledMatrix> under(const AttentionStages& stages) {
  return {allowed(stages), kFourWords.pairs("masked", stages.masked), kFourWords.pairs("weights", stages.weights)};
}

LabelledMatrix pictured(const std::string& name, const AttentionStages& stages) {
  return kFourWords.pairs(name, stages.weights);
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
  walk.add(
      "inputs", "Q [4, 4], K [4, 4], V [4, 2]",
      {kFourWords.rows("Q", q.view(), "d"), kFourWords.rows("K", k.view(), "d"), kFourWords.rows("V", v.view(), "d")});
  walk.add("scaled", "scaled = Q K^T / sqrt(4)", {kFourWords.pairs("scaled", causal.scaled)});
  walk.add("causal", "allowed(i, j) = j <= i", under(causal));
  walk.add("padding", "allowed(i, j) = j <= 3", under(padded));
  walk.add("both", "allowed(i, j) = j <= i and j <= 3", under(both));
  walk.add("output", "output = weights V", {kFourWords.rows("output", head_of(both.out.view(), 0), "d")});
  return std::move(walk).finish({pictured("causal", causal), pictured("padding", padded), pictured("both", both)});
}

}  // namespace heed
