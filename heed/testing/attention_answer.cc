#include "heed/testing/attention_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/pair_unit.h"
#include "heed/ops/attention/plans/reference.h"
#include "heed/testing/attention_magnitudes.h"
#include "heed/testing/gradient_check.h"

namespace heed::testing {
namespace {

// Rows of q, k and v, or of their gradients, as a plan is given them.
struct LaidOut {
  std::vector<Tensor> memory;
  View q, k, v;
};

View rows_in(std::vector<Tensor>& memory, const Tensor& like, RowLayout layout) {
  const Index batch = like.dim(0), heads = like.dim(1), length = like.dim(2), width = like.dim(3);
  const auto kept = [&](std::initializer_list<Index> shape) -> View {
    memory.push_back(Tensor::empty(like.dtype(), shape));
    fill(memory.back(), 77);
    return memory.back();
  };
  switch (layout) {
    case RowLayout::heads_first:
      return kept({batch, heads, length, width});
    case RowLayout::spaced:
      return slice(slice(kept({batch, heads, length + 1, width + 3}), 2, 0, length), 3, 0, width);
    default:
      return transpose(kept({batch, length, heads, width}), 1, 2);
  }
}

LaidOut lay_out(const AttentionSample& p) {
  LaidOut rows;
  const bool packed = p.layout == RowLayout::packed && p.page == 0 && p.q.dim(2) == p.k.dim(2) &&
                      p.q.dtype() == p.k.dtype() && p.q.dtype() == p.v.dtype();
  if (!packed) {
    rows.q = rows_in(rows.memory, p.q, p.layout);
    rows.k = rows_in(rows.memory, p.k, p.layout);
    rows.v = rows_in(rows.memory, p.v, p.layout);
    return rows;
  }
  const Index q = p.q.dim(1) * p.q.dim(3), k = p.k.dim(1) * p.k.dim(3), v = p.v.dim(1) * p.v.dim(3);
  rows.memory.push_back(Tensor::empty(p.q.dtype(), {p.q.dim(0), p.q.dim(2), q + k + v}));
  const View all = rows.memory.back();
  fill(all, 77);
  rows.q = split_heads(slice(all, 2, 0, q), p.q.dim(1));
  rows.k = split_heads(slice(all, 2, q, q + k), p.k.dim(1));
  rows.v = split_heads(slice(all, 2, q + k, q + k + v), p.v.dim(1));
  return rows;
}

// k or v [B, Hk, Lk, D] as a pool of pages, the last page of each sequence first; page `at` of element b is b * P + P -
// 1 - at.
Tensor pool_of(const Tensor& rows, Index page) {
  const Index batch = rows.dim(0), heads = rows.dim(1), pages = rows.dim(2) / page;
  const Tensor pool = Tensor::empty(rows.dtype(), {batch * pages, heads, page, rows.dim(3)});
  for (Index b = 0; b < batch; ++b)
    for (Index at = 0; at < pages; ++at) {
      copy(slice(select(rows.view(), 0, b), 1, at * page, (at + 1) * page),
           select(pool.view(), 0, b * pages + pages - 1 - at));
    }
  return pool;
}

// Page numbers; a page in which no key is left is null.
Tensor page_numbers(const AttentionSample& p) {
  const Index batch = p.k.dim(0), pages = p.k.dim(2) / p.page;
  const Tensor numbers = Tensor::zeros(DType::i32, {batch, pages});
  const MaskRows mask(p.spec.mask, {batch, p.q.dim(1), p.q.dim(2), p.k.dim(2)});
  for (Index b = 0; b < batch; ++b)
    for (Index at = 0; at < pages; ++at) {
      const bool null = at * p.page >= mask.length(b);
      numbers.at<std::int32_t>({b, at}) = null ? -1 : static_cast<std::int32_t>(b * pages + pages - 1 - at);
    }
  return numbers;
}

struct Given {
  LaidOut rows;
  Tensor k_pool, v_pool, pages;
  AttentionProblem problem;
};

Given give(const AttentionSample& p, const char* caller) {
  Given given;
  given.rows = lay_out(p);
  copy(p.q, given.rows.q);
  AttentionSpec spec = p.spec;
  if (p.page > 0) {
    given.k_pool = pool_of(p.k, p.page), given.v_pool = pool_of(p.v, p.page);
    spec.sequences.pages = given.pages = page_numbers(p);
    given.problem = make_attention_problem(caller, given.rows.q, given.k_pool, given.v_pool, spec);
  } else {
    copy(p.k, given.rows.k), copy(p.v, given.rows.v);
    given.problem = make_attention_problem(caller, given.rows.q, given.rows.k, given.rows.v, spec);
  }
  return given;
}

// Zeros of the type that parameters' gradients have.
Tensor gradient_of(const Tensor& parameter, DType number) {
  if (parameter.is_empty()) return {};
  const Tensor zeros = Tensor::zeros_like(parameter);
  return zeros.dtype() == number ? zeros : zeros.to(number);
}

double number(const Tensor& tensor, Index i) {
  switch (tensor.dtype()) {
    case DType::f64:
      return tensor.data<double>()[i];
    case DType::bf16:
      return to_float(tensor.data<BFloat16>()[i]);
    case DType::f16:
      return to_float(tensor.data<Float16>()[i]);
    default:
      return tensor.data<float>()[i];
  }
}

// The largest |a - exact|; infinite where one is not finite and the other is something else.
double largest_error(const Tensor& a, const Tensor& exact) {
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const double x = number(a, i), y = exact.data<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

// The distance from 1 to the next number.
double unit_of(DType dtype) { return dtype == DType::bf16 ? 0x1p-7 : dtype == DType::f16 ? 0x1p-10 : 0x1p-23; }

}  // namespace

std::vector<const AttentionPlan*> plans_for(const AttentionSample& problem) {
  if (kernels::pair_unit() == nullptr && !kernels::pair_units().empty()) {
    kernels::force_pair_unit(&kernels::pair_units().front());
  }
  const Given given = give(problem, "plans_for");
  std::vector<const AttentionPlan*> plans;
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.refusal(given.problem).empty()) plans.push_back(&plan);
  }
  return plans;
}

AttentionAnswer solve(const AttentionPlan& plan, const AttentionSample& p) {
  const Given given = give(p, "solve");
  const AttentionProblem& c = given.problem;
  Workspace workspace;
  AttentionAnswer a;
  a.row_stat = Tensor::empty(c.number, {c.batch, c.heads, c.queries});
  a.weights = Tensor::empty(c.dtype, {c.batch, c.heads, c.queries, c.keys});
  a.scores = Tensor::empty_like(a.weights), a.recovered = Tensor::empty_like(a.weights);
  for (const Tensor* tensor : {&a.row_stat, &a.weights, &a.scores, &a.recovered}) fill(*tensor, 77);
  std::vector<Tensor> memory;
  const View out = rows_in(memory, p.dout, p.layout), dout = rows_in(memory, p.dout, p.layout);
  copy(p.dout, dout);
  // Matrices are asked for apart: a plan may leave a call that wants them to another.
  plan.forward(c, {.out = out, .row_stat = a.row_stat}, workspace);
  plan.forward(c, {.weights = a.weights, .scores = a.scores, .score_stage = p.stage}, workspace);
  a.out = Tensor::copy_of(out);
  plan.weights(c, a.row_stat, {}, a.recovered, workspace);
  if (p.page > 0) return a;
  const LaidOut gradients = lay_out(p);
  a.dbias = gradient_of(p.dense, c.number);
  a.dvector = gradient_of(p.vector, c.number);
  a.dsinks = gradient_of(p.sinks, c.number);
  a.drelative = gradient_of(p.relative, c.number);
  a.dcentre = gradient_of(p.centre, c.number);
  plan.backward(c, {.out = out, .row_stat = a.row_stat, .dout = dout, .drow_stat = p.drow_stat.view()},
                {.dq = gradients.q,
                 .dk = gradients.k,
                 .dv = gradients.v,
                 .dbias = a.dbias,
                 .dadditive_vector = a.dvector,
                 .dsinks = a.dsinks,
                 .drelative = a.drelative,
                 .dcentre = a.dcentre},
                workspace);
  a.dq = Tensor::copy_of(gradients.q), a.dk = Tensor::copy_of(gradients.k), a.dv = Tensor::copy_of(gradients.v);
  return a;
}

AttentionYardstick::AttentionYardstick(const AttentionSample& problem)
    : exact_(solve(kReferencePlan, problem.in_f64())), plain_(solve(kPlainPlan, problem)) {
  const AttentionMagnitudes magnitudes = magnitudes_of(problem.in_f64(), exact_);
  for (std::size_t m = 0; m < std::size(kAttentionAnswerParts); ++m) {
    const auto part = kAttentionAnswerParts[m].tensor;
    const Tensor& plain = plain_.*part;
    if (plain.is_empty()) continue;
    const bool narrow_forward = m < kForwardParts && unit_of(plain.dtype()) > unit_of(DType::f32);
    // Gradients of a problem in 16 bits begin from an output of 16 bits.
    const double unit = std::max(unit_of(plain.dtype()), m < kForwardParts ? 0 : unit_of(problem.q.dtype()));
    const double granted = 4 * unit_of(DType::f32) + (unit > unit_of(DType::f32) ? unit : 0);
    bounds_[m] = (narrow_forward ? 2 : 3) * largest_error(plain, exact_.*part) + granted * magnitudes.of[m];
  }
}

std::string AttentionYardstick::complaint(const AttentionAnswer& answer) const {
  std::string text;
  for (std::size_t m = 0; m < std::size(kAttentionAnswerParts); ++m) {
    const auto part = kAttentionAnswerParts[m].tensor;
    if ((answer.*part).is_empty()) continue;
    const double error = largest_error(answer.*part, exact_.*part);
    if (error <= bounds_[m]) continue;
    text += fmt::format("{} is off by {:.3g}, plain loops by {:.3g}, allowed {:.3g}; ", kAttentionAnswerParts[m].name,
                        error, largest_error(plain_.*part, exact_.*part), bounds_[m]);
  }
  return text;
}

}  // namespace heed::testing
