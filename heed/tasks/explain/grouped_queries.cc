#include <utility>

#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/tasks/explain/walk_writer.h"
#include "heed/tasks/explain/word_labels.h"
#include "heed/tasks/explain/worked_examples.h"

namespace heed {
namespace {

constexpr Index kHeads = 4, kKeyHeads = 2, kWidth = 4;
const WordLabels kThreeWords{{"we", "share", "keys"}};

// [1, heads, L, kWidth] of a matrix [L, heads * kWidth].
Tensor heads_of(const Tensor& matrix) {
  return Tensor::copy_of(split_heads(matrix.reshape({1, matrix.dim(0), matrix.dim(1)}).view(), matrix.dim(1) / kWidth));
}

std::vector<LabelledMatrix> each_head(const std::string& name, const Tensor& heads,
                                      const std::vector<std::string>& columns) {
  std::vector<LabelledMatrix> matrices;
  for (Index h = 0; h < heads.dim(1); ++h) {
    matrices.push_back(label_matrix(name, head_of(heads.view(), h), kThreeWords.words, columns));
    matrices.back().head = h;
  }
  return matrices;
}

// Which head of keys and values each head of queries reads.
LabelledMatrix sharing() {
  LabelledMatrix matrix{"reads", numbered_labels("q head ", kHeads, 0), numbered_labels("kv head ", kKeyHeads, 0), {}};
  for (Index h = 0; h < kHeads; ++h) {
    for (Index g = 0; g < kKeyHeads; ++g) matrix.values.push_back(h / (kHeads / kKeyHeads) == g ? 1 : 0);
  }
  return matrix;
}

// What a decoder keeps of each token.
LabelledMatrix cache() {
  LabelledMatrix matrix{"cache", {"multi-head", "grouped-query", "multi-query"}, {"kv heads", "numbers"}, {}};
  for (const Index key_heads : {kHeads, kKeyHeads, Index{1}}) {
    matrix.values.push_back(static_cast<double>(key_heads));
    matrix.values.push_back(static_cast<double>(2 * key_heads * kWidth));
  }
  return matrix;
}

}  // namespace

Explanation explain_grouped_queries(Language language) {
  const Tensor q = small_matrix({{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 2, 2, 0, 0},
                                 {0, 2, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 2},
                                 {0, 0, 2, 2, 2, 2, 0, 0, 2, 0, 0, 2, 0, 2, 0, 0}});
  const Tensor k = small_matrix({{2, 0, 1, 0, 1, 0, 2, 0}, {0, 2, 0, 1, 0, 2, 0, 1}, {1, 1, 0, 2, 2, 1, 0, 0}});
  const Tensor v = small_matrix({{1, 0, 0, 0, 0, 0, 0, 1}, {0, 1, 0, 0, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1, 0, 0}});
  const Tensor q_heads = heads_of(q), k_heads = heads_of(k), v_heads = heads_of(v);
  const AttentionStages stages = compute_attention_stages(q_heads.view(), k_heads.view(), v_heads.view(), {});
  std::vector<ConstView> outputs;
  for (Index h = 0; h < kHeads; ++h) outputs.push_back(head_of(stages.out.view(), h));

  WalkWriter walk("gqa", language);
  walk.add("inputs", "Q [3, 4 * 4], K [3, 2 * 4], V [3, 2 * 4]",
           {kThreeWords.rows("Q", q.view(), "q"), kThreeWords.rows("K", k.view(), "k"),
            kThreeWords.rows("V", v.view(), "v")});
  const std::vector<std::string> columns = numbered_labels("d", kWidth);
  ExplanationStep& heads = walk.add("heads", "Q = [Q_0, Q_1, Q_2, Q_3],   K = [K_0, K_1],   V = [V_0, V_1]",
                                    each_head("Q", q_heads, columns));
  for (auto&& matrices : {each_head("K", k_heads, columns), each_head("V", v_heads, columns)}) {
    heads.matrices.insert(heads.matrices.end(), matrices.begin(), matrices.end());
  }
  walk.add("sharing", "kv_head(h) = floor(h / (4 / 2))", {sharing()});
  walk.add("scaled", "scaled_h = Q_h K_kv_head(h)^T / sqrt(4)", each_head("scaled", stages.scaled, kThreeWords.words));
  std::vector<LabelledMatrix> weights = each_head("weights", stages.weights, kThreeWords.words);
  walk.add("weights", "weights_h = softmax(scaled_h)", weights);
  walk.add("output", "output_h = weights_h V_kv_head(h)", each_head("output", stages.out, columns));
  walk.add("concatenation", "concatenation = [output_0, output_1, output_2, output_3]",
           {kThreeWords.rows("concatenation", side_by_side(outputs).view(), "o")});
  walk.add("cache", "numbers = 2 * kv_heads * 4", {cache()});
  return std::move(walk).finish(std::move(weights));
}

}  // namespace heed
