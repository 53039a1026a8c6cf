// Random legal attention problems: every score, bias, mask, normaliser, type, layout and addressing, with all tensors.
//
//   Choices choices(7);
//   const AttentionSample problem = random_attention_sample(choices);
//   const AttentionAnswer exact = solve(kReferencePlan, problem.in_f64());     // see attention_answer.h
#pragma once

#include <string>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/problem/attention_problem.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/choices.h"

namespace heed::testing {

// How the rows of q, k, v and of their gradients lie in memory.
enum class RowLayout {
  heads_first,   // [B, H, L, D]
  length_first,  // [B, L, H, D]
  spaced,        // [B, H, L, D] with a gap after each row and each head
  packed,        // q, k and v side by side in [B, L, heads * width]; length_first where the lengths or types differ
};

// The spec's tensors, but for its mask's, are these. They are contiguous whatever the layout that they are given to a
// plan in.
struct AttentionSample {
  Tensor q, k, v, dout, drow_stat;
  Tensor vector, projection, dense, alibi, relative, centre, sinks;
  AttentionSpec spec{};
  RowLayout layout = RowLayout::heads_first;
  Index page = 0;  // keys to a page of the cache in which a plan finds k and v; 0: no pages
  ScoreStage stage = ScoreStage::capped;

  // Points the spec at the tensors, but for those of the mask.
  void bind();
  // The same problem, its numbers widened, in rows that lie one after another.
  AttentionSample in_f64() const;
};

// As plans get it.
AttentionProblem problem_of(const AttentionSample& sample);

// Numbers are of a size at which no score, weight or gradient overflows a type or is the difference of far larger ones
// without need: `sum` normalises positive features only, and no key of a sparsemax row lies so close to its threshold
// that a rounding would move it across, where the gradient jumps.
AttentionSample random_attention_sample(Choices& choices);

// What is chosen, on one line.
std::string describe(const AttentionSample& problem);

}  // namespace heed::testing
