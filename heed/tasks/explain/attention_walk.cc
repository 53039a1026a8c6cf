#include "heed/tasks/explain/attention_walk.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/ops/attention/spec/visit_spec.h"
#include "heed/tasks/explain/attention_steps.h"
#include "heed/tasks/explain/small_matrix.h"

namespace heed {
namespace {

constexpr Index kMostNumbers = 1 << 20;

void check_size(const AttentionInputs& problem) {
  for (const Tensor* tensor : {&problem.q, &problem.k, &problem.v}) {
    HEED_CHECK(tensor->rank() == 4 && tensor->dtype() == DType::f64,
               "explain_attention: q, k and v must be f64 [B, H, L, D], but one is {}", describe(tensor->view()));
    HEED_CHECK(tensor->size() >= 1 && tensor->size() <= kMostNumbers,
               "explain_attention: an array must have 1 to {} numbers, but one is {}", kMostNumbers,
               describe(tensor->view()));
  }
  HEED_CHECK(!problem.heads_of_one_matrix || problem.q.dim(0) == 1,
             "explain_attention: heads of one matrix are of one batch element, but q is {}",
             describe(problem.q.view()));
  // No factor exceeds 2^20, but all together may not fit an Index.
  const double scores = static_cast<double>(problem.q.dim(0) * problem.q.dim(1)) *
                        static_cast<double>(problem.q.dim(2)) * static_cast<double>(problem.k.dim(2));
  HEED_CHECK(scores <= static_cast<double>(kMostNumbers),
             "explain_attention: every query against every key is more than {} scores: q is {}, k is {}", kMostNumbers,
             describe(problem.q.view()), describe(problem.k.view()));
}

void check_labels(const char* what, const std::vector<std::string>& labels, Index count) {
  HEED_CHECK(labels.empty() || static_cast<Index>(labels.size()) == count,
             "explain: labels name {} {}, but there are {}", labels.size(), what, count);
}

// Where keys have no names and are as many as queries, of no memory, they are the same words.
AttentionInputs with_labels(AttentionInputs problem) {
  check_labels("queries", problem.query_labels, problem.q.dim(2));
  check_labels("keys", problem.key_labels, problem.k.dim(2));
  const bool same_words = problem.q.dim(2) == problem.k.dim(2) && (!problem.rows || problem.rows->memory.is_empty());
  if (problem.key_labels.empty() && same_words) problem.key_labels = problem.query_labels;
  return problem;
}

void check_terms(const AttentionInputs& problem) {
  for (const AttentionChoice::Chosen& chosen : problem.attention.terms()) {
    const std::string_view name = chosen.term->name;
    HEED_CHECK(chosen.term->role != AttentionTerm::Role::position,
               "explain_attention: '{}' turns queries and keys before attention, which is not taken apart here", name);
    HEED_CHECK(name != "relative" && name != "sinks",
               "explain_attention: '{}' is learned in training, and there are no numbers for it here", name);
    HEED_CHECK(name != "additive" || !problem.additive_vector.is_empty(),
               "explain_attention: the score 'additive' needs the vector v_a, {} numbers", problem.q.dim(3));
  }
}

AttentionSpec spec_of(const AttentionInputs& problem) {
  check_terms(problem);
  DrawnParameters drawn{Rng(1)};  // for the one learned term, additive, whose numbers are replaced
  const Index positions = std::max(problem.q.dim(2), problem.k.dim(2));
  LayerAttention made = problem.attention.make({.scope = drawn,
                                                .heads = problem.q.dim(1),
                                                .head_width = problem.q.dim(3),
                                                .max_positions = positions,
                                                .causal = problem.causal});
  AttentionSpec& spec = made.spec;
  for (const LayerAttention::Learned& learned : made.learned) learned.place(spec) = problem.additive_vector;
  visit_views(spec, [](const char*, Tensor& tensor, PackedAxis) {
    if (!tensor.is_empty() && tensor.dtype() == DType::f32) tensor = tensor.to(DType::f64);
  });
  if (problem.scale) {
    HEED_CHECK(spec.score.kind != Score::Kind::additive, "explain_attention: the score 'additive' has no scale");
    spec.score.scale = problem.scale;
  }
  if (problem.causal) spec.mask = spec.mask & Mask::causal();
  if (!problem.allowed.is_empty()) spec.mask = spec.mask & Mask::boolean(problem.allowed);
  return std::move(made.spec);
}

}  // namespace

AttentionInputs two_by_two_inputs() {
  return {.q = as_one_head(small_matrix({{1, 0, 1}, {0, 1, 1}})),
          .k = as_one_head(small_matrix({{1, 1, 0}, {0, 1, 1}})),
          .v = as_one_head(small_matrix({{1, 2}, {3, 4}}))};
}

Explanation explain_attention(const AttentionInputs& given, Language language) {
  check_size(given);
  const AttentionInputs problem = with_labels(given);
  const AttentionSpec spec = spec_of(problem);
  const AttentionStages stages = compute_attention_stages(problem.q, problem.k, problem.v, spec);
  const HeadMatrices heads(problem);
  const AttentionComputed computed{problem, spec, stages, heads};

  WalkWriter walk("attention", language);
  add_inputs(walk, computed);
  add_scores(walk, computed);
  add_weights(walk, computed);
  add_outputs(walk, computed);
  Explanation explanation = std::move(walk).finish({});
  explanation.pictured = explanation.step("weights").matrices;
  if (!problem.attention.terms().empty()) {
    const Words words(language);
    explanation.title = words.title("attention.chosen", {problem.attention.text()});
    explanation.introduction = words.text("attention.chosen");
  }
  return explanation;
}

}  // namespace heed
