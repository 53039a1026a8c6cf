// The steps of explain_attention, in parts: what goes in, the scores on their way to the mask, and what the normaliser
// makes of them.
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/explain/attention_stages.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/walk_writer.h"

namespace heed {

// One matrix for every head of every batch element of a tensor [B, H, R, C], with the labels of a problem.
class HeadMatrices {
 public:
  explicit HeadMatrices(const AttentionInputs& problem);

  std::vector<LabelledMatrix> of(const std::string& name, const Tensor& tensor, const std::vector<std::string>& rows,
                                 const std::vector<std::string>& columns) const;
  // [B, H, Lq, Lk]
  std::vector<LabelledMatrix> of_pairs(const std::string& name, const Tensor& tensor) const {
    return of(name, tensor, queries, keys);
  }

  std::vector<std::string> queries, keys;
  std::vector<std::string> outputs;  // the queries' labels, or o1, o2, ... where there are none

 private:
  bool several_batches_, several_heads_;
};

// What a step is made from.
struct AttentionComputed {
  const AttentionInputs& problem;
  const AttentionSpec& spec;
  const AttentionStages& stages;
  const HeadMatrices& heads;
};

// rows and projections, or inputs.
void add_inputs(WalkWriter& walk, const AttentionComputed& computed);
// features, scores, scaled, capped, biased, masked.
void add_scores(WalkWriter& walk, const AttentionComputed& computed);
// exponentials, threshold or sums, and weights.
void add_weights(WalkWriter& walk, const AttentionComputed& computed);
// output, concatenation, projection.
void add_outputs(WalkWriter& walk, const AttentionComputed& computed);

}  // namespace heed
