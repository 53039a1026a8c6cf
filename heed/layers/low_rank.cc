#include "heed/layers/low_rank.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/layers/given_parameters.h"
#include "heed/layers/initialise.h"
#include "heed/ops/gemm.h"

namespace heed {
namespace {

constexpr std::string_view kDown = ".lora_A", kUp = ".lora_B";

// Whether the name is one of these, or a path that ends with one.
bool is_any(std::string_view name, std::span<const std::string_view> known) {
  return std::ranges::any_of(known, [&](std::string_view end) {
    return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
  });
}

bool is_target(std::string_view name, LowRankTargets targets) {
  static constexpr std::string_view kAttention[] = {"in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight",
                                                    "out_proj.weight"};
  static constexpr std::string_view kFeedForward[] = {"linear1.weight", "linear2.weight", "linear_gate.weight"};
  return (targets != LowRankTargets::feed_forward && is_any(name, kAttention)) ||
         (targets != LowRankTargets::attention && is_any(name, kFeedForward));
}

// A value that gets no gradient.
Tensor frozen(const Var& var) { return is_narrow(var.dtype()) ? widened(var) : var.value(); }

// Calls plain(var) or factored(var, factors) for each parameter of the base, and returns what they make of it.
template <typename Plain, typename Factored>
ParameterList changed(const ParameterList& base, const ParameterList& factors, const LowRankOptions& options,
                      Plain plain, Factored factored) {
  std::unordered_map<std::string, Var> by_name;
  for (const auto& [name, var] : factors) by_name.emplace(name, var);
  ParameterList made;
  std::size_t used = 0;
  for (const auto& [name, var] : base) {
    const auto down = by_name.find(name + std::string(kDown)), up = by_name.find(name + std::string(kUp));
    if (down == by_name.end() || up == by_name.end()) {
      made.push_back({name, plain(var)});
      continue;
    }
    used += 2;
    const Var &a = down->second, &b = up->second;
    const Weight weight = var;
    HEED_CHECK(weight.values.rank == 2 && a.rank() == 2 && b.rank() == 2 && a.dim(0) == b.dim(1) &&
                   a.dim(1) == weight.inputs() && b.dim(0) == weight.outputs(),
               "low-rank adaptation: {} is {}, but its factors are {} and {}", name, describe_weight(weight),
               describe(a.value().view()), describe(b.value().view()));
    made.push_back({name, factored(var, LowRank{a, b, options.scale()})});
  }
  HEED_CHECK(used == factors.size(), "low-rank adaptation: of {} factors, {} are of no weight of the model",
             factors.size(), factors.size() - used);
  return made;
}

}  // namespace

ParameterList draw_factors(const ParameterList& base, const LowRankOptions& options, const Rng& rng) {
  HEED_CHECK(options.rank >= 1, "low-rank adaptation: the rank must be at least 1, but is {}", options.rank);
  ParameterList factors;
  Rng draws = rng;
  for (const auto& [name, var] : base) {
    if (!is_target(name, options.targets)) continue;
    const Weight weight = var;
    HEED_CHECK(weight.values.rank == 2 && options.rank <= std::min(weight.outputs(), weight.inputs()),
               "low-rank adaptation: {} must be a matrix of extents of at least the rank {}, but is {}", name,
               options.rank, describe_weight(weight));
    const Tensor down = Tensor::empty(DType::f32, {options.rank, weight.inputs()});
    initialise(down, Initial::uniform(1 / std::sqrt(static_cast<double>(weight.inputs()))), draws);
    factors.push_back({name + std::string(kDown), Var::parameter(down)});
    factors.push_back(
        {name + std::string(kUp), Var::parameter(Tensor::zeros(DType::f32, {weight.outputs(), options.rank}))});
  }
  HEED_CHECK(!factors.empty(), "low-rank adaptation: the model has no weights of the sort {}",
             enum_name(options.targets));
  return factors;
}

ParameterList adapted(const ParameterList& base, const ParameterList& factors, const LowRankOptions& options) {
  return changed(
      base, factors, options, [](const Var& var) { return Var(frozen(var)); },
      [](const Var& var, const LowRank& low_rank) { return Var::adapted(frozen(var), low_rank); });
}

ParameterList merged(const ParameterList& base, const ParameterList& factors, const LowRankOptions& options) {
  return changed(
      base, factors, options, [](const Var& var) { return var; },
      [](const Var& var, const LowRank& low_rank) {
        const Tensor sum = widened(var);
        gemm(low_rank.up, low_rank.down, sum, {.accumulate = true, .alpha = low_rank.scale});
        return Var::parameter(sum);
      });
}

}  // namespace heed
