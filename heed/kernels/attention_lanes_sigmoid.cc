#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_lanes_sigmoid.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct Sigmoid : SigmoidWeights {
  static HWY_INLINE Vector share(Vector weight) { return hn::NegMulAdd(weight, weight, weight); }
};

// One look at the scores is enough.
template <bool kPairs, class B>
HWY_INLINE void add_sigmoid_block(const AttentionLanes& t, const LanePart& part, const B& block,
                                  float* HWY_RESTRICT tile, const LaneSums& rows) {
  const Floats d;
  for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
    const Vector before = hn::LoadU(d, rows.top + row), zero = hn::Zero(d);
    Vector largest[4] = {before, before, before, before}, chains[4] = {zero, zero, zero, zero};
    const auto weigh = [&](Index key, Index chain) HWY_ATTR {
      const Vector score = block.score(hn::LoadU(d, tile + key * t.lanes + row), key, row);
      const Vector weight = hn::IfThenZeroElse(is_refused(score), sigmoid(d, score));
      largest[chain] = hn::Max(largest[chain], score), chains[chain] = hn::Add(chains[chain], weight);
      return block.kept(weight, key, row);
    };
    if constexpr (kPairs) {
      store_weight_pairs<1>(t, tile + row, [&](Index key, Index chain, int) HWY_ATTR { return weigh(key, chain); });
    } else {
      for_keys(part,
               [&](Index key, Index chain) HWY_ATTR { hn::StoreU(weigh(key, chain), d, tile + key * t.lanes + row); });
    }
    hn::StoreU(largest_of(largest), d, rows.top + row);
    hn::StoreU(hn::Add(hn::LoadU(d, rows.sum + row), sum_of(chains)), d, rows.sum + row);
    hn::StoreU(hn::Set(d, 1.0f), d, rows.decay + row);
  }
}

void add_sigmoid(const AttentionLanes& t, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  for_block<false>(t, [&](const auto& block) HWY_ATTR {
    for (const LanePart& part : parts) add_sigmoid_block<false>(t, part, block, tile, rows);
  });
}
void add_sigmoid_pairs(const AttentionLanes& t, float* tile, const LaneSums& rows) {
  for_block<true>(t, [&](const auto& block) HWY_ATTR { add_sigmoid_block<true>(t, t.whole(), block, tile, rows); });
}

void weigh_sigmoid(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  weigh<Sigmoid>(t, top, factor, tile);
}

void sigmoid_gradients(const AttentionLanes& t, const LanePart& part, const float* stat, const float* delta,
                       float scale, float* tile, float* dweights, float* dbias) {
  gradients<Sigmoid>(t, part, stat, delta, scale, tile, dweights, dbias);
}
void sigmoid_gradient_factors(const AttentionLanes& t, const float* stat, const float* delta, float scale,
                              const float* tile, const float* dweights, float* dbias, const GradientFactors& to) {
  gradient_factors<Sigmoid>(t, stat, delta, scale, tile, dweights, dbias, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(add_sigmoid);
HEED_EXPORT(add_sigmoid_pairs);
HEED_EXPORT(weigh_sigmoid);
HEED_EXPORT(sigmoid_gradients);
HEED_EXPORT(sigmoid_gradient_factors);

namespace {

void sigmoid_add(const AttentionLanes& block, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(add_sigmoid)(block, parts, tile, rows);
}
void sigmoid_add_pairs(const AttentionLanes& block, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(add_sigmoid_pairs)(block, tile, rows);
}
void sigmoid_weigh(const AttentionLanes& block, const float* top, const float* factor, float* tile) {
  HEED_DISPATCH(weigh_sigmoid)(block, top, factor, tile);
}
void gradients_of_sigmoid(const AttentionLanes& block, const LanePart& part, const float* stat, const float* delta,
                          float scale, float* tile, float* dweights, float* dbias) {
  HEED_DISPATCH(sigmoid_gradients)(block, part, stat, delta, scale, tile, dweights, dbias);
}
void factors_of_sigmoid(const AttentionLanes& block, const float* stat, const float* delta, float scale,
                        const float* tile, const float* dweights, float* dbias, const GradientFactors& to) {
  HEED_DISPATCH(sigmoid_gradient_factors)(block, stat, delta, scale, tile, dweights, dbias, to);
}

}  // namespace

const LaneNormaliser kSigmoidLanes{.add = sigmoid_add,
                                   .add_pairs = sigmoid_add_pairs,
                                   .sums_to_one = false,
                                   .weigh = sigmoid_weigh,
                                   .gradients = gradients_of_sigmoid,
                                   .gradient_factors = factors_of_sigmoid,
                                   .flow = nullptr,
                                   .narrow_flow = nullptr};

}  // namespace heed::kernels
#endif
