// What goes into attention and what comes out of it, as steps.
#include <utility>

#include "heed/base/check.h"
#include "heed/tasks/explain/attention_steps.h"
#include "heed/tasks/explain/small_matrix.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr std::size_t kLongestLabel = 24;  // characters: more would push the numbers off the page

void append(std::vector<LabelledMatrix>& to, std::vector<LabelledMatrix> matrices) {
  for (LabelledMatrix& matrix : matrices) to.push_back(std::move(matrix));
}

std::vector<std::string> fit_to_be_shown(const std::vector<std::string>& labels) {
  std::vector<std::string> shown;
  for (const std::string& label : labels) shown.push_back(shorten(visible_text(label), kLongestLabel));
  return shown;
}

std::string shape_text(const Tensor& x) { return fmt::format("[{}, {}]", x.dim(x.rank() - 2), x.dim(x.rank() - 1)); }

std::vector<LabelledMatrix> all_inputs(const AttentionInputs& p, const HeadMatrices& heads) {
  std::vector<LabelledMatrix> matrices = heads.of("Q", p.q, heads.queries, numbered_labels("d", p.q.dim(3)));
  append(matrices, heads.of("K", p.k, heads.keys, numbered_labels("d", p.k.dim(3))));
  append(matrices, heads.of("V", p.v, heads.keys, numbered_labels("d", p.v.dim(3))));
  return matrices;
}

void add_rows(WalkWriter& walk, const AttentionComputed& computed) {
  const ProjectedRows& rows = *computed.problem.rows;
  const HeadMatrices& heads = computed.heads;
  const bool crossed = !rows.memory.is_empty();
  const auto weight = [](const char* name, const Tensor& matrix, std::string_view from, std::string_view to) {
    return label_matrix(name, matrix.view(), numbered_labels(from, matrix.dim(0)), numbered_labels(to, matrix.dim(1)));
  };
  const auto projected = [](const char* name, const Tensor& x, const Tensor& w, const std::vector<std::string>& labels,
                            std::string_view columns) {
    return label_matrix(name, product(x.view(), w.view()).view(), labels, numbered_labels(columns, w.dim(1)));
  };

  std::vector<LabelledMatrix> given{
      label_matrix("X", rows.x.view(), heads.queries, numbered_labels("x", rows.x.dim(1)))};
  std::string formula = fmt::format("X {}", shape_text(rows.x));
  if (crossed) {
    given.push_back(label_matrix("M", rows.memory.view(), heads.keys, numbered_labels("m", rows.memory.dim(1))));
    formula += fmt::format(",   M {}", shape_text(rows.memory));
  }
  walk.add("rows", std::move(formula), std::move(given), crossed ? "crossed" : "self");
  const char *source = crossed ? "M" : "X", *from = crossed ? "m" : "x";
  walk.add(
      "projections", fmt::format("Q = X W_Q,   K = {0} W_K,   V = {0} W_V", source),
      {weight("W_Q", rows.w_q, "x", "q"), weight("W_K", rows.w_k, from, "k"), weight("W_V", rows.w_v, from, "v"),
       projected("Q", rows.x, rows.w_q, heads.queries, "q"), projected("K", rows.read(), rows.w_k, heads.keys, "k"),
       projected("V", rows.read(), rows.w_v, heads.keys, "v")});
  if (rows.heads == 1) return;
  walk.add("heads", "Q = [Q_0, Q_1, ...],   K = [K_0, K_1, ...],   V = [V_0, V_1, ...]",
           all_inputs(computed.problem, heads));
}

}  // namespace

HeadMatrices::HeadMatrices(const AttentionInputs& problem)
    : queries(fit_to_be_shown(problem.query_labels)),
      keys(fit_to_be_shown(problem.key_labels)),
      outputs(queries),
      several_batches_(problem.q.dim(0) > 1),
      several_heads_(problem.q.dim(1) > 1 || problem.k.dim(1) > 1) {
  if (queries.empty()) {
    queries = numbered_labels("q", problem.q.dim(2));
    outputs = numbered_labels("o", problem.q.dim(2));
  }
  if (keys.empty()) keys = numbered_labels("k", problem.k.dim(2));
}

std::vector<LabelledMatrix> HeadMatrices::of(const std::string& name, const Tensor& tensor,
                                             const std::vector<std::string>& rows,
                                             const std::vector<std::string>& columns) const {
  std::vector<LabelledMatrix> matrices;
  for (Index b = 0; b < tensor.dim(0); ++b) {
    for (Index h = 0; h < tensor.dim(1); ++h) {
      matrices.push_back(label_matrix(name, head_of(tensor.view(), h, b), rows, columns));
      if (several_batches_) matrices.back().batch = b;
      if (several_heads_) matrices.back().head = h;
    }
  }
  return matrices;
}

void add_inputs(WalkWriter& walk, const AttentionComputed& computed) {
  const AttentionInputs& p = computed.problem;
  if (p.rows) {
    add_rows(walk, computed);
  } else {
    walk.add("inputs", fmt::format("Q {}, K {}, V {}", shape_text(p.q), shape_text(p.k), shape_text(p.v)),
             all_inputs(p, computed.heads));
  }
  if (p.q.dim(1) > p.k.dim(1)) walk.say("shared", {std::to_string(p.q.dim(1) / p.k.dim(1))});
}

void add_outputs(WalkWriter& walk, const AttentionComputed& computed) {
  const Tensor& out = computed.stages.out;
  const HeadMatrices& heads = computed.heads;
  walk.add("output", "output = weights V,   output[i] = sum_j weights[i, j] v_j",
           heads.of("output", out, heads.outputs, numbered_labels("d", out.dim(3))));
  if (!computed.problem.heads_of_one_matrix && !computed.problem.rows) return;
  std::vector<ConstView> parts;
  for (Index h = 0; h < out.dim(1); ++h) parts.push_back(head_of(out.view(), h));
  const Tensor joined = side_by_side(parts);
  const auto labelled = [&](const char* name, const Tensor& matrix, std::string_view columns) {
    return label_matrix(name, matrix.view(), heads.outputs, numbered_labels(columns, matrix.dim(1)));
  };
  if (out.dim(1) > 1) {
    walk.add("concatenation", "concatenation = [output_0, output_1, ...]", {labelled("concatenation", joined, "d")});
  }
  if (!computed.problem.rows || computed.problem.rows->w_o.is_empty()) return;
  const Tensor& w_o = computed.problem.rows->w_o;
  walk.add("projection", fmt::format("projection = {} W_O", out.dim(1) > 1 ? "concatenation" : "output"),
           {label_matrix("W_O", w_o.view(), numbered_labels("d", w_o.dim(0)), numbered_labels("o", w_o.dim(1))),
            labelled("projection", product(joined.view(), w_o.view()), "o")});
}

}  // namespace heed
