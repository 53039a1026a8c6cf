#include "heed/ops/attention/attention.h"

#include <cmath>
#include <cstdlib>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/ops/attention/plan.h"
#include "heed/ops/attention/reference.h"
#include "heed/ops/attention/tile.h"

namespace heed {
namespace {

bool unit_stride(const ConstView& view) { return view.shape[view.rank - 1] <= 1 || view.stride[view.rank - 1] == 1; }

void check_heads(const char* caller, const char* name, const char* axes, const ConstView& view, DType dtype) {
  HEED_CHECK(view.rank == 4, "{}: {} must be {}, but is {}", caller, name, axes, describe(view));
  HEED_CHECK(view.dtype == dtype, "{}: {} must be {} as q is, but is {}", caller, name, name_of(dtype), describe(view));
  HEED_CHECK(unit_stride(view), "{}: {} must have stride 1 along its last axis, but is {}", caller, name,
             describe(view));
}

void check_shape(const char* caller, const char* name, const ConstView& view, const ConstView& like, DType dtype) {
  if (!view) return;
  HEED_CHECK(same_shape(view, like) && view.dtype == dtype && unit_stride(view),
             "{}: {} must be {} of shape [{}] with stride 1 along its last axis, but is {}", caller, name,
             name_of(dtype), fmt::join(like.shape.begin(), like.shape.begin() + like.rank, ", "), describe(view));
}

// A view that only tells a shape.
ConstView shape_of(std::initializer_list<Index> shape) {
  return make_view(static_cast<const void*>(nullptr), DType::f32, shape);
}

void check_bias(const char* caller, const AttentionCase& c) {
  const ConstView& bias = c.bias;
  const auto fits = [&](int axis, Index extent) { return bias.shape[axis] == extent || bias.shape[axis] == 1; };
  HEED_CHECK(
      bias.dtype == c.dtype && bias.rank == 4 && fits(0, c.batch) && fits(1, c.heads) && fits(2, c.queries) &&
          bias.shape[3] == c.keys && unit_stride(bias),
      "{}: the dense bias must be {} [B | 1, H | 1, Lq | 1, Lk] of [{}, {}, {}, {}] with stride 1 along the keys, but "
      "is {}",
      caller, name_of(c.dtype), c.batch, c.heads, c.queries, c.keys, describe(bias));
}

void check_score(const char* caller, AttentionCase& c) {
  const Score& score = c.spec.score;
  if (score.kind == Score::Kind::additive) {
    const ConstView& vector = score.additive_vector;
    HEED_CHECK(
        vector && vector.rank == 1 && vector.shape[0] == c.width && vector.dtype == c.dtype && unit_stride(vector),
        "{}: the additive score needs a contiguous vector {} [D = {}], but got {}", caller, name_of(c.dtype), c.width,
        describe(vector));
  } else {
    c.scale = score.scale.value_or(1.0 / std::sqrt(static_cast<double>(c.width)));
    HEED_CHECK(std::isfinite(c.scale), "{}: the scale must be finite, but is {}", caller, c.scale);
  }
  if (c.spec.bias.soft_cap) {
    c.cap = *c.spec.bias.soft_cap;
    HEED_CHECK(std::isfinite(c.cap) && c.cap > 0, "{}: the soft-cap must be positive and finite, but is {}", caller,
               c.cap);
  }
}

const AttentionPlan* forced_plan() {
  const char* name = std::getenv("HEED_PLAN");
  if (name == nullptr || *name == '\0') return nullptr;
  std::string known;
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.name == name) return &plan;
    known += known.empty() ? "" : ", ";
    known += plan.name;
  }
  fail("attention: HEED_PLAN is '{}', but the plans are {}", name, known);
}

void check_result(const char* caller, const AttentionCase& c, const AttentionResult& result) {
  check_shape(caller, "out", result.out, shape_of({c.batch, c.heads, c.queries, c.value_width}), c.dtype);
  const ConstView square = shape_of({c.batch, c.heads, c.queries, c.keys});
  check_shape(caller, "weights", result.weights, square, c.dtype);
  check_shape(caller, "scores", result.scores, square, c.dtype);
  const ConstView rows = shape_of({c.batch, c.heads, c.queries});
  HEED_CHECK(!result.row_stat || (same_shape(result.row_stat, rows) && result.row_stat.dtype == c.dtype),
             "{}: row_stat must be {} [{}, {}, {}], but is {}", caller, name_of(c.dtype), c.batch, c.heads, c.queries,
             describe(result.row_stat));
}

void check_gradients(const AttentionCase& c, const AttentionGrad& grad) {
  const char* caller = "attention_backward";
  check_shape(caller, "dq", grad.dq, c.q, c.dtype);
  check_shape(caller, "dk", grad.dk, c.k, c.dtype);
  check_shape(caller, "dv", grad.dv, c.v, c.dtype);
  HEED_CHECK(!grad.dbias || c.bias, "{}: dbias is wanted, but the call has no dense bias", caller);
  if (grad.dbias) check_shape(caller, "dbias", grad.dbias, c.spec.bias.dense, c.dtype);
  HEED_CHECK(!grad.dadditive_vector || c.spec.score.kind == Score::Kind::additive,
             "{}: dadditive_vector is wanted, but the score is not additive", caller);
  if (grad.dadditive_vector) {
    check_shape(caller, "dadditive_vector", grad.dadditive_vector, c.spec.score.additive_vector, c.dtype);
  }
}

}  // namespace

AttentionCase make_attention_case(const char* caller, const ConstView& q, const ConstView& k, const ConstView& v,
                                  const AttentionSpec& spec) {
  AttentionCase c{.q = q, .k = k, .v = v, .spec = spec};
  HEED_CHECK(q.dtype == DType::f32 || q.dtype == DType::f64, "{}: q must be f32 or f64, but is {}", caller,
             describe(q));
  c.dtype = q.dtype;
  check_heads(caller, "q", "[B, H, Lq, D]", q, c.dtype);
  check_heads(caller, "k", "[B, Hk, Lk, D]", k, c.dtype);
  c.batch = q.shape[0], c.heads = q.shape[1], c.queries = q.shape[2], c.width = q.shape[3];
  c.key_heads = k.shape[1], c.keys = k.shape[2];
  HEED_CHECK(k.shape[0] == c.batch && k.shape[3] == c.width && c.width >= 1,
             "{}: q [B, H, Lq, D] and k [B, Hk, Lk, D] must agree in B and D >= 1, but are {} and {}", caller,
             describe(q), describe(k));
  HEED_CHECK(c.key_heads >= 1 && c.heads % c.key_heads == 0,
             "{}: the heads of q must be a multiple of the heads of k, but q is {} and k {}", caller, describe(q),
             describe(k));
  c.group = c.heads / c.key_heads;
  if (v) {
    check_heads(caller, "v", "[B, Hk, Lk, Dv]", v, c.dtype);
    c.value_width = v.shape[3];
    HEED_CHECK(v.shape[0] == c.batch && v.shape[1] == c.key_heads && v.shape[2] == c.keys,
               "{}: k and v must agree in [B, Hk, Lk], but are {} and {}", caller, describe(k), describe(v));
  }
  check_score(caller, c);
  c.bias = spec.bias.dense;
  if (c.bias) {
    check_bias(caller, c);
    for (int axis = 0; axis < 3; ++axis) {
      if (c.bias.shape[axis] == 1) c.bias.stride[axis] = 0;
    }
  }
  c.mask = MaskRows(spec.mask, c.batch, c.heads, c.queries, c.keys, caller);
  const double p = spec.dropout.probability;
  HEED_CHECK(p >= 0 && p < 1, "{}: the dropout probability must be in [0, 1), but is {}", caller, p);
  c.dropout = DropoutMask(spec.dropout);
  HEED_CHECK(c.dropout.threshold() < 65536, "{}: the dropout probability {} leaves no weight", caller, p);
  return c;
}

std::span<const AttentionPlan> attention_plans() {
  static const AttentionPlan kPlans[] = {kAdditivePlan, kTiledPlan, kReferencePlan};
  return kPlans;
}

const AttentionPlan& choose_attention_plan(const AttentionCase& problem) {
  if (const AttentionPlan* forced = forced_plan()) {
    const std::string reason = forced->refuse(problem);
    HEED_CHECK(reason.empty(), "attention: HEED_PLAN={} cannot compute this call: {}", forced->name, reason);
    return *forced;
  }
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.refuse(problem).empty()) return plan;
  }
  fail("attention: no plan computes this call");
}

void attention(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, const AttentionResult& result,
               Workspace& workspace) {
  const AttentionCase problem = make_attention_case("attention", q, k, v, spec);
  HEED_CHECK(v || !result.out, "attention: out is wanted, but v is an empty view");
  check_result("attention", problem, result);
  choose_attention_plan(problem).forward(problem, result, workspace);
}

void attention_backward(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, ConstView out,
                        ConstView row_stat, ConstView dout, const AttentionGrad& grad, Workspace& workspace) {
  const char* caller = "attention_backward";
  const AttentionCase problem = make_attention_case(caller, q, k, v, spec);
  HEED_CHECK(v && out && row_stat && dout, "{}: v, out, row_stat and dout must be given, but are {}, {}, {} and {}",
             caller, describe(v), describe(out), describe(row_stat), describe(dout));
  check_result(caller, problem, {.out = {out}, .row_stat = {row_stat}});
  check_shape(caller, "dout", dout, shape_of({problem.batch, problem.heads, problem.queries, problem.value_width}),
              problem.dtype);
  check_gradients(problem, grad);
  choose_attention_plan(problem).backward(problem, {out, row_stat, dout}, grad, workspace);
}

void attention_weights(ConstView q, ConstView k, const AttentionSpec& spec, ConstView row_stat, View weights,
                       Workspace&) {
  const AttentionCase problem = make_attention_case("attention_weights", q, k, {}, spec);
  HEED_CHECK(row_stat && weights, "attention_weights: row_stat and weights must be given, but are {} and {}",
             describe(row_stat), describe(weights));
  check_result("attention_weights", problem, {.row_stat = {row_stat}, .weights = weights});
  parallel_for(problem.batch * problem.heads, 1, [&](Index begin, Index end) {
    for (Index head = begin; head < end; ++head)
      for (Index i = 0; i < problem.queries; ++i)
        reference_weights_row(problem, row_stat, weights, head / problem.heads, head % problem.heads, i);
  });
}

std::string explain(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec) {
  const AttentionCase problem = make_attention_case("explain", q, k, v, spec);
  const AttentionPlan& chosen = choose_attention_plan(problem);
  std::string text = fmt::format("{} computes q {}, k {}, v {}", chosen.name, describe(q), describe(k), describe(v));
  for (const AttentionPlan& plan : attention_plans()) {
    if (plan.name == chosen.name) break;
    const std::string reason = plan.refuse(problem);
    text += fmt::format("; {} {}", plan.name, reason.empty() ? "was passed over by HEED_PLAN" : "refused: " + reason);
  }
  return text;
}

}  // namespace heed
