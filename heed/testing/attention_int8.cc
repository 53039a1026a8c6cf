#include "heed/testing/attention_int8.h"

#include <fmt/core.h>

#include "heed/tensor/quantise_rows.h"
#include "heed/testing/gradient_check.h"

namespace heed::testing {
namespace {

// A plan in whole numbers by the rule for all plans; its rows are the same whether matrices are asked for or not.
std::string judge_whole_numbers(const AttentionPlan& plan, const AttentionSample& wide, const Int8Rows& k,
                                const Int8Rows& v, const AttentionSpec& narrow) {
  const AttentionAnswer got = forward_answer(plan, wide.q, k.values, v.values, narrow, true, wide.stage);
  AttentionAnswer answer = solve(attention_plans().back(), wide);  // for the gradients, which i8 has not
  for (std::size_t n = 0; n < kForwardParts; ++n) {
    answer.*kAttentionAnswerParts[n].tensor = got.*kAttentionAnswerParts[n].tensor;
  }
  if (!same_bits(got.recovered, got.weights)) return "the weights from the statistic are others";
  answer.weights = {};  // so that they have its rounding, by which the recovered ones are judged
  if (const std::string complaint = AttentionYardstick(wide).complaint(answer); !complaint.empty()) return complaint;
  const AttentionAnswer alone = forward_answer(plan, wide.q, k.values, v.values, narrow, false);
  const bool same = same_bits(alone.out, got.out) && same_bits(alone.row_stat, got.row_stat);
  return same ? "" : "rows are others where matrices are asked for";
}

std::string judge_bits(const AttentionPlan& plan, const AttentionSample& wide, const Int8Rows& k, const Int8Rows& v,
                       const AttentionSpec& narrow) {
  for (bool matrices : {false, true}) {
    const AttentionAnswer got = forward_answer(plan, wide.q, k.values, v.values, narrow, matrices);
    const AttentionAnswer expected = forward_answer(plan, wide.q, wide.k, wide.v, wide.spec, matrices);
    for (std::size_t n = 0; n < kForwardParts; ++n) {
      const auto& [name, tensor] = kAttentionAnswerParts[n];
      if (!same_bits(got.*tensor, expected.*tensor)) return fmt::format("other bits in {}", name);
    }
  }
  return "";
}

}  // namespace

Int8Rows::Int8Rows(const Tensor& rows) {
  const Index width = rows.dim(3);
  values = Tensor::empty(DType::i8, {rows.dim(0), rows.dim(1), rows.dim(2), width});
  scales = Tensor::empty(DType::f32, {rows.dim(0), rows.dim(1), rows.dim(2)});
  wide = Tensor::empty(DType::f32, {rows.dim(0), rows.dim(1), rows.dim(2), width});
  quantise_rows(rows, values, scales);
  for (Index i = 0; i < wide.size(); ++i) {
    wide.data<float>()[i] = static_cast<float>(values.data<std::int8_t>()[i]) * scales.data<float>()[i / width];
  }
}

AttentionAnswer forward_answer(const AttentionPlan& plan, const ConstView& q, const ConstView& k, const ConstView& v,
                               const AttentionSpec& spec, bool matrices, ScoreStage stage) {
  const AttentionProblem c = make_attention_problem("test", q, k, v, spec);
  Workspace workspace;
  AttentionAnswer a;
  a.out = Tensor::zeros(c.dtype, {c.batch, c.heads, c.queries, c.value_width});
  a.row_stat = Tensor::zeros(DType::f32, {c.batch, c.heads, c.queries});
  a.weights = Tensor::zeros(c.dtype, {c.batch, c.heads, c.queries, c.keys});
  a.scores = Tensor::zeros_like(a.weights), a.recovered = Tensor::zeros_like(a.weights);
  AttentionResult result{.out = a.out, .row_stat = a.row_stat, .score_stage = stage};
  if (matrices) result.weights = a.weights, result.scores = a.scores;
  plan.forward(c, result, workspace);
  plan.weights(c, a.row_stat, {}, a.recovered, workspace);
  return a;
}

Int8Verdict judge_int8(AttentionSample p) {
  const Int8Rows k(p.k), v(p.v);
  p.k = k.wide, p.v = v.wide;
  AttentionSpec narrow = p.spec;
  narrow.scales = {.k = k.scales, .v = v.scales};
  const AttentionProblem c = make_attention_problem("test", p.q, k.values, v.values, narrow);
  Int8Verdict verdict;
  for (const AttentionPlan& plan : attention_plans()) {
    if (!plan.refusal(c).empty()) continue;
    const bool whole = plan.order == SumOrder::whole;
    const std::string complaint = (whole ? judge_whole_numbers : judge_bits)(plan, p, k, v, narrow);
    if (!complaint.empty()) verdict.complaint += fmt::format("{} of i8: {}; ", plan.name, complaint);
    ++(whole ? verdict.in_whole_numbers : verdict.of_wide_rows);
  }
  return verdict;
}

}  // namespace heed::testing
