// What a plan makes of an attention problem, and whether that is as good as plain loops of the same precision make it.
//
//   const AttentionYardstick yardstick(problem);
//   for (const AttentionPlan* plan : plans_for(problem)) EXPECT_EQ(yardstick.complaint(solve(*plan, problem)), "");
#pragma once

#include <string>
#include <vector>

#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_sample.h"

namespace heed::testing {

// Contiguous whatever the problem's layout; empty where the problem has no such thing, or has no backward. `recovered`
// are the weights again, from row_stat.
struct AttentionAnswer {
  Tensor out, row_stat, weights, scores, recovered, dq, dk, dv, dbias, dvector, dsinks, drelative, dcentre;
};

struct AttentionAnswerPart {
  const char* name;
  Tensor AttentionAnswer::*tensor;
};
inline constexpr std::size_t kForwardParts = 5;  // the first of them; the others are gradients
inline constexpr AttentionAnswerPart kAttentionAnswerParts[] = {{"out", &AttentionAnswer::out},
                                                                {"row_stat", &AttentionAnswer::row_stat},
                                                                {"weights", &AttentionAnswer::weights},
                                                                {"scores", &AttentionAnswer::scores},
                                                                {"recovered", &AttentionAnswer::recovered},
                                                                {"dq", &AttentionAnswer::dq},
                                                                {"dk", &AttentionAnswer::dk},
                                                                {"dv", &AttentionAnswer::dv},
                                                                {"dbias", &AttentionAnswer::dbias},
                                                                {"dvector", &AttentionAnswer::dvector},
                                                                {"dsinks", &AttentionAnswer::dsinks},
                                                                {"drelative", &AttentionAnswer::drelative},
                                                                {"dcentre", &AttentionAnswer::dcentre}};

// Of these, what each row of queries or keys has of its own.
inline constexpr Tensor AttentionAnswer::*kRowAnswers[] = {
    &AttentionAnswer::out, &AttentionAnswer::row_stat, &AttentionAnswer::weights, &AttentionAnswer::recovered,
    &AttentionAnswer::dq,  &AttentionAnswer::dk,       &AttentionAnswer::dv};

// The plans that take the problem. A unit that multiplies bf16 is tested wherever the machine has one: where calls pass
// it by, since f32 outruns it (kernels::pair_unit), this puts it in use for the rest of the process.
std::vector<const AttentionPlan*> plans_for(const AttentionSample& problem);

// Everything that the plan computes, with the numbers laid out in memory as the problem says. What is overwritten
// begins as other numbers, what accumulates as zero. A paged problem has no gradients.
AttentionAnswer solve(const AttentionPlan& plan, const AttentionSample& problem);

// The rule by which a fast plan is right: each part's error, against kReferencePlan in f64, is at most 3 times that of
// kPlainPlan (twice for what the forward pass gives in 16 bits), which computes as plainly as possible in the same
// precision. The plain plan may be exact by luck or by symmetry, so a rounding is granted besides: of f32 in the
// largest sum of magnitudes that the part is made of (4 units in the last place), and one of the storage type.
class AttentionYardstick {
 public:
  explicit AttentionYardstick(const AttentionSample& problem);
  // What is wrong with an answer to the problem; empty where nothing is.
  std::string complaint(const AttentionAnswer& answer) const;

 private:
  AttentionAnswer exact_, plain_;
  double bounds_[std::size(kAttentionAnswerParts)] = {};
};

}  // namespace heed::testing
