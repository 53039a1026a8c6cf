// Attention on problems that a fuzzer chooses: whatever the features, every plan is as good as plain loops, with keys
// and values of i8, too, the public calls take the problem, and no address or arithmetic is out of bounds.
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "heed/base/parallel.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/testing/attention_answer.h"
#include "heed/testing/attention_int8.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using namespace testing;

void stop(const AttentionSample& problem, std::string_view what) {
  std::cerr << what << "\n" << describe(problem) << "\n";
  std::abort();
}

// Whether the public call gives the bits of the first plan that takes the problem.
void call(const AttentionSample& p, const AttentionAnswer& first) {
  if (p.page > 0) return;
  Workspace workspace;
  const Tensor out = Tensor::empty_like(first.out), stat = Tensor::empty_like(first.row_stat);
  attention(p.q, p.k, p.v, p.spec, {.out = out, .row_stat = stat}, workspace);
  const Tensor dq = Tensor::empty_like(p.q), dk = Tensor::empty_like(p.k), dv = Tensor::empty_like(p.v);
  attention_backward(p.q, p.k, p.v, p.spec,
                     {.out = out, .row_stat = stat, .dout = p.dout, .drow_stat = p.drow_stat.view()},
                     {.dq = dq, .dk = dk, .dv = dv}, workspace);
  const auto compare = [&](const Tensor& a, const Tensor& b, std::string_view name) {
    if (!same_bits(a, b)) stop(p, fmt::format("the public call gives another {}", name));
  };
  compare(out, first.out, "out"), compare(stat, first.row_stat, "row_stat");
  compare(dq, first.dq, "dq"), compare(dk, first.dk, "dk"), compare(dv, first.dv, "dv");
}

}  // namespace
}  // namespace heed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  set_thread_count(1);
  Choices choices(std::span<const std::uint8_t>(data, size));
  const AttentionSample problem = random_attention_sample(choices);
  const AttentionYardstick yardstick(problem);
  const auto plans = plans_for(problem);
  for (const AttentionPlan* plan : plans) {
    const AttentionAnswer answer = solve(*plan, problem);
    const std::string complaint = yardstick.complaint(answer);
    if (!complaint.empty()) stop(problem, fmt::format("{}: {}", plan->name, complaint));
    if (plan == plans.front()) call(problem, answer);
  }
  if (problem.q.dtype() == DType::f32 && problem.page == 0) {
    const std::string complaint = judge_int8(problem).complaint;
    if (!complaint.empty()) stop(problem, complaint);
  }
  return 0;
}
