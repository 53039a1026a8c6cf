// Every tensor of a spec, and every one of them that is learned beside its gradient: the one list of each, from which
// checks, packed sequences and the tape take what they do.
//
//   visit_views(spec, [&](const char* name, const Tensor& tensor, PackedAxis) {
//     check_operand(caller, {name, tensor.view(), kOptional});
//   });
#pragma once

#include <cstddef>

#include "heed/ops/attention/spec/results.h"
#include "heed/ops/attention/spec/spec.h"

namespace heed {

// What a tensor has for each packed sequence: nothing of its own, one number, or its queries or keys along axis 2.
enum class PackedAxis { none, sequence, query, key };

// Calls f(name, tensor, packed) for each tensor that a spec may have; an empty one is not given. A pattern's are read
// only, and none of a sequence. Spec is AttentionSpec or const AttentionSpec.
template <typename Spec, typename F>
void visit_views(Spec& spec, const F& f) {
  f("the additive score's vector", spec.score.additive_vector, PackedAxis::none);
  f("the random features' projection", spec.score.feature_map.projection, PackedAxis::none);
  f("the dense bias", spec.bias.dense, PackedAxis::none);
  f("the ALiBi slopes", spec.bias.alibi, PackedAxis::none);
  f("the relative bias", spec.bias.relative.table, PackedAxis::none);
  f("the Gaussian's centre", spec.bias.gaussian.centre, PackedAxis::query);
  f("the sinks", spec.normaliser.sinks, PackedAxis::none);
  f("the query offsets", spec.sequences.query_offsets, PackedAxis::none);
  f("the key offsets", spec.sequences.key_offsets, PackedAxis::none);
  f("the pages", spec.sequences.pages, PackedAxis::none);
  f("the scales of k", spec.scales.k, PackedAxis::key);
  f("the scales of v", spec.scales.v, PackedAxis::key);
  const auto interval = [&](auto& window, auto& lengths) {
    f("key lengths", lengths, PackedAxis::sequence);
    if (!window) return;
    f("the window's prefix", window->prefix, PackedAxis::sequence);
    f("the window's centre", window->centre, PackedAxis::query);
  };
  interval(spec.mask.window, spec.mask.lengths);
  for (auto& more : spec.mask.further) interval(more.window, more.lengths);
}

// How many tensors visit_parameters() visits.
inline constexpr std::size_t kLearnedTensors = 5;

// Calls f(gradient's name, what is learned, parameter, gradient) for each tensor of a spec that may be learned. Spec
// and Grad may be const.
template <typename Spec, typename Grad, typename F>
void visit_parameters(Spec& spec, Grad& grad, const F& f) {
  f("dbias", "dense bias", spec.bias.dense, grad.dbias);
  f("dadditive_vector", "additive score", spec.score.additive_vector, grad.dadditive_vector);
  f("dsinks", "sinks", spec.normaliser.sinks, grad.dsinks);
  f("drelative", "relative bias", spec.bias.relative.table, grad.drelative);
  f("dcentre", "Gaussian bias", spec.bias.gaussian.centre, grad.dcentre);
}

}  // namespace heed
