// Low-rank adaptation (LoRA: Hu, Shen, Wallis, Allen-Zhu, Li, Wang and Chen 2021, section 4): a model whose weights W
// stay, and which learns what is added to some of them, scale B A, in two thin factors.
//
//   const LowRankOptions options{.rank = 8};
//   ParameterList factors = draw_factors(folder.parameters, options, Rng(1));
//   GivenParameters given(adapted(folder.parameters, factors, options), "model");
//   std::unique_ptr<SequenceModel> model = make_model(given, folder.config);           // trains the factors alone
//   ParameterList weights = merged(folder.parameters, factors, options);               // W + scale B A
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/io/number_range.h"
#include "heed/layers/parameters.h"

namespace heed {

// Which weights of a Transformer's blocks get factors.
enum class LowRankTargets {
  attention,     // projections of queries, keys and values, together where they are one matrix, and of the output
  feed_forward,  // linear1, linear2 and the gate
  all,           // both
};
inline constexpr std::pair<std::string_view, LowRankTargets> kLowRankTargetsNames[] = {
    {"attention", LowRankTargets::attention},
    {"feed-forward", LowRankTargets::feed_forward},
    {"all", LowRankTargets::all}};
inline std::span<const std::pair<std::string_view, LowRankTargets>> enum_names(LowRankTargets) {
  return kLowRankTargetsNames;
}

struct LowRankOptions {
  Index rank = 0;
  double alpha = 0;
  LowRankTargets targets = LowRankTargets::attention;

  // What the product of the factors is multiplied by: alpha / rank, or 1 where alpha is 0.
  double scale() const { return alpha > 0 ? alpha / static_cast<double>(rank) : 1.0; }

  template <typename V>
  friend void visit_fields(LowRankOptions& o, V&& visit) {
    visit("lora", o.rank, "With --from: low-rank adaptation of this rank; 0: all parameters are trained.",
          NumberRange::from(0, 1 << 16));
    visit("lora_alpha", o.alpha, "What is added to a weight is scaled by this over the rank; 0: by 1.",
          NumberRange::from(0, 1e6));
    visit("lora_targets", o.targets, "Which weights are adapted: attention, feed-forward, or all of these.");
  }
};

// The factors of each weight W [Out, In] of the base that is a target, in its order: "W.lora_A" [rank, In], uniform in
// +-1 / sqrt(In), and "W.lora_B" [Out, rank], zeros, so that the model begins as the base. Throws heed::Error where no
// weight is a target, or the rank is below 1 or above an extent of one.
ParameterList draw_factors(const ParameterList& base, const LowRankOptions& options, const Rng& rng);

// The base's parameters, which get no gradient, in f32: the base's own memory, but for what was narrow. Those that have
// factors carry them (Var::adapted). Throws heed::Error for factors of a weight that the base has not, or that do not
// go with it.
ParameterList adapted(const ParameterList& base, const ParameterList& factors, const LowRankOptions& options);

// The base's parameters with W + scale B A, in f32 and memory of its own, for each W that has factors; the others are
// the base's own. Throws as adapted does.
ParameterList merged(const ParameterList& base, const ParameterList& factors, const LowRankOptions& options);

}  // namespace heed
