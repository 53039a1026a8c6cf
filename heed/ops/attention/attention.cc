#include "heed/ops/attention/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "heed/base/check.h"
#include "heed/ops/attention/memory_check.h"
#include "heed/ops/attention/plans/plan.h"
#include "heed/ops/attention/problem/packed_sequences.h"
#include "heed/ops/attention/spec/visit_spec.h"

namespace heed {
namespace {

// A shape, as a view of nothing. Its sizes are not computed: what is not wanted may be as large as it likes.
ConstView shape_of(std::initializer_list<Index> shape) {
  ConstView view;
  view.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape.begin());
  return view;
}

void check_shape(const char* caller, const char* name, const ConstView& view, const ConstView& like, DType dtype) {
  HEED_CHECK(!view || (same_shape(view, like) && view.dtype == dtype && has_unit_rows(view)),
             "{}: {} must be {} of shape [{}] with stride 1 along its last axis, but is {}", caller, name,
             name_of(dtype), fmt::join(like.shape.begin(), like.shape.begin() + like.rank, ", "), describe(view));
}

void check_result(const char* caller, const AttentionProblem& c, const AttentionResult& result) {
  check_shape(caller, "out", result.out, shape_of({c.batch, c.heads, c.queries, c.value_width}), c.dtype);
  const ConstView square = shape_of({c.batch, c.heads, c.queries, c.keys});
  check_shape(caller, "weights", result.weights, square, c.dtype);
  check_shape(caller, "scores", result.scores, square, c.dtype);
}

void check_row_stat(const char* caller, const char* name, const AttentionProblem& c, const ConstView& stat) {
  HEED_CHECK(!stat || (has_shape(stat, {c.batch, c.heads, c.queries}) && stat.dtype == c.number),
             "{}: {} must be {} [{}, {}, {}], but is {}", caller, name, name_of(c.number), c.batch, c.heads, c.queries,
             describe(stat));
}

void check_gradients(const AttentionProblem& c, const AttentionGrad& grad) {
  const char* caller = "attention_backward";
  check_shape(caller, "dq", grad.dq, c.q, c.dtype);
  check_shape(caller, "dk", grad.dk, c.k.view(), c.k.view().dtype);
  check_shape(caller, "dv", grad.dv, c.v.view(), c.v.view().dtype);
  visit_parameters(c.spec, grad,
                   [&](const char* name, const char* what, const Tensor& parameter, const View& gradient) {
                     if (!gradient) return;  // it is wanted only where the call has that parameter
                     HEED_CHECK(parameter, "{}: {} is wanted, but the call has no {}", caller, name, what);
                     check_shape(caller, name, gradient, parameter.view(), c.number);
                   });
}

// One problem with what it fills, checked.
struct ForwardCall {
  AttentionProblem problem;
  AttentionResult result;
};

ForwardCall make_forward(const ConstView& q, const ConstView& k, const ConstView& v, const AttentionSpec& spec,
                         const AttentionResult& result, Index first_batch) {
  const char* caller = "attention";
  ForwardCall call{make_attention_problem(caller, q, k, v, spec, first_batch), result};
  HEED_CHECK(v || !result.out, "{}: out is wanted, but v is an empty view", caller);
  check_row_stat(caller, "row_stat", call.problem, result.row_stat);
  check_result(caller, call.problem, result);
  return call;
}

void run(const ForwardCall& call, Workspace& workspace) {
  const AttentionTask task{
      .pass = AttentionTask::Pass::forward, .weights = bool{call.result.weights}, .scores = bool{call.result.scores}};
  choose_attention_plan(call.problem, task).forward(call.problem, call.result, workspace);
}

struct BackwardCall {
  AttentionProblem problem;
  AttentionSaved saved;
  AttentionGrad grad;
};

BackwardCall make_backward(const ConstView& q, const ConstView& k, const ConstView& v, const AttentionSpec& spec,
                           const AttentionSaved& saved, const AttentionGrad& grad, Index first_batch) {
  const char* caller = "attention_backward";
  BackwardCall call{make_attention_problem(caller, q, k, v, spec, first_batch), saved, grad};
  const AttentionProblem& problem = call.problem;
  HEED_CHECK(v && saved.out && saved.row_stat && saved.dout,
             "{}: v, out, row_stat and dout must be given, but are {}, {}, {} and {}", caller, describe(v),
             describe(saved.out), describe(saved.row_stat), describe(saved.dout));
  HEED_CHECK(!spec.sequences.pages, "{}: a paged cache has no backward", caller);
  HEED_CHECK(k.dtype != DType::i8 && v.dtype != DType::i8,
             "{}: i8 has no gradient: it is for caches, but k is {} and v {}", caller, describe(k), describe(v));
  const ConstView rows = shape_of({problem.batch, problem.heads, problem.queries, problem.value_width});
  check_shape(caller, "out", saved.out, rows, problem.dtype);
  check_shape(caller, "dout", saved.dout, rows, problem.dtype);
  check_row_stat(caller, "row_stat", problem, saved.row_stat);
  check_row_stat(caller, "drow_stat", problem, saved.drow_stat);
  check_gradients(problem, grad);
  return call;
}

void run(const BackwardCall& call, Workspace& workspace) {
  const AttentionTask task{.pass = AttentionTask::Pass::backward};
  choose_attention_plan(call.problem, task).backward(call.problem, call.saved, call.grad, workspace);
}

bool is_packed(const AttentionSpec& spec) { return spec.sequences.query_offsets || spec.sequences.key_offsets; }

// Rows of [1, H, total, D], or of [1, H, total].
template <typename AnyView>
AnyView rows_of(const AnyView& view, Range rows) {
  return view ? slice(view, 2, rows.begin, rows.end) : view;
}

// The views of a packed call must have its rows, neither fewer nor more.
void check_packed_rows(const char* caller, std::initializer_list<Operand> views, Index total) {
  for (const auto& [name, view, optional] : views) {
    HEED_CHECK(!view || (view.rank >= 3 && view.shape[0] == 1 && view.shape[2] == total),
               "{}: {} of packed sequences must be [1, H, {}, ...], but is {}", caller, name, total, describe(view));
  }
}

}  // namespace

void attention(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, const AttentionResult& result,
               Workspace& workspace) {
  const char* caller = "attention";
  check_call(caller, spec, {{"q", q}, {"k", k}, {"v", v, kOptional}},
             {{"out", result.out, kOptional},
              {"row_stat", result.row_stat, kOptional},
              {"weights", result.weights, kOptional},
              {"scores", result.scores, kOptional}});
  if (!is_packed(spec)) {
    run(make_forward(q, k, v, spec, result, 0), workspace);
    return;
  }
  HEED_CHECK(!result.weights && !result.scores,
             "{}: packed sequences give no weights and no scores, which have no one shape", caller);
  check_forced_plan();  // there may be no sequence to choose a plan for
  const PackedSequences sequences(caller, q, k, spec);
  check_packed_rows(caller, {{"out", result.out}, {"row_stat", result.row_stat}}, q.shape[2]);
  check_packed_rows(caller, {{"v", v}}, k.shape[2]);
  std::vector<ForwardCall> calls;
  for (Index n = 0; n < sequences.count(); ++n) {
    const PackedSequence one = sequences.sequence(n);
    calls.push_back(
        make_forward(rows_of(q, one.queries), rows_of(k, one.keys), rows_of(v, one.keys), one.spec,
                     {.out = rows_of(result.out, one.queries), .row_stat = rows_of(result.row_stat, one.queries)}, n));
  }
  for (const ForwardCall& call : calls) run(call, workspace);
}

void attention_backward(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec, const AttentionSaved& saved,
                        const AttentionGrad& grad, Workspace& workspace) {
  const char* caller = "attention_backward";
  std::array<Operand, 3 + kLearnedTensors> written{
      {{"dq", grad.dq, kOptional}, {"dk", grad.dk, kOptional}, {"dv", grad.dv, kOptional}}};
  std::size_t count = 3;
  visit_parameters(spec, grad, [&](const char* name, const char*, const Tensor&, const View& gradient) {
    written.at(count++) = {name, gradient, kOptional};
  });
  check_call(caller, spec,
             {{"q", q},
              {"k", k},
              {"v", v, kOptional},
              {"out", saved.out, kOptional},
              {"row_stat", saved.row_stat, kOptional},
              {"dout", saved.dout, kOptional},
              {"drow_stat", saved.drow_stat, kOptional}},
             std::span<const Operand>(written));
  if (!is_packed(spec)) {
    run(make_backward(q, k, v, spec, saved, grad, 0), workspace);
    return;
  }
  check_forced_plan();  // there may be no sequence to choose a plan for
  const PackedSequences sequences(caller, q, k, spec);
  check_packed_rows(caller,
                    {{"out", saved.out},
                     {"row_stat", saved.row_stat},
                     {"dout", saved.dout},
                     {"drow_stat", saved.drow_stat},
                     {"dq", grad.dq},
                     {"dcentre", grad.dcentre}},
                    q.shape[2]);
  check_packed_rows(caller, {{"v", v}, {"dk", grad.dk}, {"dv", grad.dv}}, k.shape[2]);
  std::vector<BackwardCall> calls;
  for (Index n = 0; n < sequences.count(); ++n) {
    const PackedSequence one = sequences.sequence(n);
    AttentionGrad part = grad;
    part.dq = rows_of(grad.dq, one.queries), part.dcentre = rows_of(grad.dcentre, one.queries);
    part.dk = rows_of(grad.dk, one.keys), part.dv = rows_of(grad.dv, one.keys);
    calls.push_back(make_backward(rows_of(q, one.queries), rows_of(k, one.keys), rows_of(v, one.keys), one.spec,
                                  {.out = rows_of(saved.out, one.queries),
                                   .row_stat = rows_of(saved.row_stat, one.queries),
                                   .dout = rows_of(saved.dout, one.queries),
                                   .drow_stat = rows_of(saved.drow_stat, one.queries)},
                                  part, n));
  }
  for (const BackwardCall& call : calls) run(call, workspace);
}

void attention_weights(ConstView q, ConstView k, const AttentionSpec& spec, ConstView row_stat, View weights,
                       Workspace& workspace, const AttentionSelection& part) {
  const char* caller = "attention_weights";
  HEED_CHECK(!is_packed(spec), "{}: packed sequences have weights of no one shape: ask for one sequence at a time",
             caller);
  check_call(caller, spec, {{"q", q}, {"k", k}, {"row_stat", row_stat, kOptional}}, {{"weights", weights, kOptional}});
  const AttentionProblem problem = make_attention_problem(caller, q, k, {}, spec);
  HEED_CHECK(row_stat && weights, "{}: row_stat and weights must be given, but are {} and {}", caller,
             describe(row_stat), describe(weights));
  check_row_stat(caller, "row_stat", problem, row_stat);
  const auto extent = [&](const char* name, const std::vector<Index>& chosen, Index count) {
    for (Index index : chosen) {
      HEED_CHECK(index >= 0 && index < count, "{}: {} {} is wanted, but there are {}", caller, name, index, count);
    }
    return chosen.empty() ? count : std::ssize(chosen);
  };
  const ConstView shape = shape_of({problem.batch, extent("head", part.heads, problem.heads),
                                    extent("row", part.rows, problem.queries), problem.keys});
  check_shape(caller, "weights", weights, shape, problem.dtype);
  const AttentionTask task{.pass = AttentionTask::Pass::weights};
  choose_attention_plan(problem, task).weights(problem, row_stat, part, weights, workspace);
}

std::string explain(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec) {
  check_call("explain", spec, {{"q", q}, {"k", k}, {"v", v, kOptional}}, {});
  AttentionSpec one = spec;
  if (is_packed(spec)) {
    const PackedSequences sequences("explain", q, k, spec);
    if (sequences.count() == 0) return "no sequence";
    const PackedSequence first = sequences.sequence(0);
    one = first.spec;
    q = rows_of(q, first.queries), k = rows_of(k, first.keys), v = rows_of(v, first.keys);
  }
  const AttentionProblem problem = make_attention_problem("explain", q, k, v, one);
  return explain_plans(problem, fmt::format("q {}, k {}, v {}", describe(q), describe(k), describe(v)));
}

}  // namespace heed
