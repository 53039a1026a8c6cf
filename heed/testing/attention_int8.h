// Attention over keys and values of i8 with a scale for each row, held against that over the rows that they stand for.
//
//   const Int8Verdict verdict = judge_int8(problem);
//   EXPECT_EQ(verdict.complaint, "");
#pragma once

#include <string>

#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_answer.h"

namespace heed::testing {

// [B, Hk, L, D] as i8 with its scales, and as what that stands for.
struct Int8Rows {
  Tensor values, scales, wide;
  explicit Int8Rows(const Tensor& rows);
};

// All that a plan's forward pass gives, or what is left without matrices, and the weights again.
AttentionAnswer forward_answer(const AttentionPlan& plan, const ConstView& q, const ConstView& k, const ConstView& v,
                               const AttentionSpec& spec, bool matrices, ScoreStage stage = ScoreStage::capped);

// What is wrong with what each plan makes of a problem's keys and values as i8; empty where nothing is. A plan in whole
// numbers is to be right by the rule for all plans, the others are to give the bits of the wide rows: so many did.
struct Int8Verdict {
  std::string complaint;
  Index in_whole_numbers = 0, of_wide_rows = 0;
};
Int8Verdict judge_int8(AttentionSample problem);

}  // namespace heed::testing
