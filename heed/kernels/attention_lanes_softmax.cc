// The largest score of a block goes down its columns, then the exponentials of the differences to it: where it moved,
// what the row has so far is multiplied by the exponential of how far (Milakov & Gimelshein 2018), a number that
// depends on the row alone. Blocks begin at fixed keys, so that no bit depends on how rows are cut into tiles.
#include <algorithm>
#include <array>

#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_lanes_softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

template <class Weights>
struct Shape : Weights {
  static HWY_INLINE Vector share(Vector weight) { return weight; }
};

// The parts as vectors of rows, each with its keys, and an empty one behind the last.
class Columns {
 public:
  explicit Columns(std::span<const LanePart> parts) {
    for (const LanePart& part : parts)
      for (Index row = part.first_lane; row < part.end_lane; row += kLanes)
        columns_[count_++] = {part.first_key, part.end_key, row, row + kLanes};
    columns_[count_++] = {};
  }
  const LanePart* begin() const { return columns_.data(); }
  const LanePart* end() const { return columns_.data() + count_; }

 private:
  std::array<LanePart, kMostLanes / kLanes + 1> columns_;
  std::size_t count_ = 0;
};

// While the scores of a vector of rows are weighed, those of the next one are read for its largest: what the two wait
// for is not the same.
template <class B>
HWY_INLINE void add_softmax_block(const AttentionLanes& t, std::span<const LanePart> parts, const B& block,
                                  float* HWY_RESTRICT tile, const LaneSums& rows) {
  const Floats d;
  const Index lanes = t.lanes;  // not read again after each store
  // Of the rows that are weighed. An addition reads a score from memory itself, a subtraction from it does not.
  LanePart weighed;
  Vector before = hn::Zero(d), minus_shift = hn::Zero(d);
  for (LanePart next : Columns(parts)) {
    const Index row = next.first_lane, last_row = weighed.first_lane;
    const Vector none = hn::Set(d, kMinusInfinity);
    Vector largest[4] = {none, none, none, none};
    const auto read = [&](Index key, Index chain) HWY_ATTR {
      float* at = tile + key * lanes + row;
      const Vector score = block.score(hn::LoadU(d, at), key, row);
      if constexpr (B::kChangesScores) hn::StoreU(score, d, at);
      largest[chain] = hn::Max(largest[chain], score);  // which may lose a NaN: the sum has it
    };
    Vector chains[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    const auto weigh = [&](Index key, Index chain) HWY_ATTR {
      float* at = tile + key * lanes + last_row;
      const Vector weight = softmax_weight(d, hn::Add(hn::LoadU(d, at), minus_shift));
      chains[chain] = hn::Add(chains[chain], weight);
      hn::StoreU(block.kept(weight, key, last_row), d, at);
    };
    LanePart to_read = next, to_weigh = weighed;
    while (to_read.keys() >= 4 && to_weigh.keys() >= 4) {
      for (Index chain = 0; chain < 4; ++chain) {
        read(to_read.first_key + chain, chain), weigh(to_weigh.first_key + chain, chain);
      }
      to_read.first_key += 4, to_weigh.first_key += 4;
    }
    for_keys(to_read, read);
    for_keys(to_weigh, weigh);
    if (weighed.keys() > 0) {
      const Vector decay = softmax_weight(d, hn::Add(before, minus_shift));
      const Vector sum = hn::MulAdd(hn::LoadU(d, rows.sum + last_row), decay, sum_of(chains));
      hn::StoreU(sum, d, rows.sum + last_row), hn::StoreU(decay, d, rows.decay + last_row);
    }
    if (next.keys() > 0) {
      before = hn::LoadU(d, rows.top + row);
      const Vector top = hn::Max(largest_of(largest), before);
      minus_shift = hn::Neg(shift_of(top));
      hn::StoreU(top, d, rows.top + row);
    }
    weighed = next;
  }
}

void add_softmax(const AttentionLanes& t, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  for_block<false>(t, [&](const auto& block) HWY_ATTR { add_softmax_block(t, parts, block, tile, rows); });
}

// The same for kVectors vectors of rows at once, whose weights become pairs: rounding them takes what the other vector
// leaves.
template <int kVectors, class B>
HWY_INLINE void add_softmax_pairs_of(const AttentionLanes& t, Index row, const B& block, float* tile,
                                     const LaneSums& rows) {
  const Floats d;
  const Index lanes = t.lanes;
  Vector largest[kVectors][4], chains[kVectors][4], before[kVectors], shift[kVectors];
  for (int v = 0; v < kVectors; ++v)
    for (int chain = 0; chain < 4; ++chain) {
      largest[v][chain] = hn::Set(d, kMinusInfinity), chains[v][chain] = hn::Zero(d);
    }
  for_keys(t.whole(), [&](Index key, Index chain) HWY_ATTR {
    for (int v = 0; v < kVectors; ++v) {
      const Index lane = row + v * kLanes;
      float* at = tile + key * lanes + lane;
      Vector score = hn::LoadU(d, at);
      if constexpr (B::kChangesScores) hn::StoreU(score = block.score(score, key, lane), d, at);
      largest[v][chain] = hn::Max(largest[v][chain], score);
    }
  });
  const Vector scale = hn::Set(d, t.scale);
  for (int v = 0; v < kVectors; ++v) {
    const Index lane = row + v * kLanes;
    before[v] = hn::LoadU(d, rows.top + lane);
    Vector top = largest_of(largest[v]);
    if constexpr (!B::kChangesScores) top = hn::Mul(top, scale);
    top = NarrowSoftmaxWeights::top(before[v], top);
    shift[v] = NarrowSoftmaxWeights::shift(top);
    hn::StoreU(top, d, rows.top + lane);
  }
  store_weight_pairs<kVectors>(t, tile + row, [&](Index key, Index chain, int v) HWY_ATTR {
    const Index lane = row + v * kLanes;
    Vector score = hn::LoadU(d, tile + key * lanes + lane);
    if constexpr (!B::kChangesScores) score = hn::Mul(score, scale);
    const Vector weight = NarrowSoftmaxWeights::weight(score, shift[v]);
    chains[v][chain] = hn::Add(chains[v][chain], weight);
    return block.kept(weight, key, lane);
  });
  for (int v = 0; v < kVectors; ++v) {
    const Index lane = row + v * kLanes;
    const Vector decay = NarrowSoftmaxWeights::decay(before[v], shift[v]);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, rows.sum + lane), decay, sum_of(chains[v])), d, rows.sum + lane);
    hn::StoreU(decay, d, rows.decay + lane);
  }
}
void add_softmax_pairs(const AttentionLanes& t, float* tile, const LaneSums& rows) {
  for_block<true>(t, [&](const auto& block) HWY_ATTR {
    Index row = 0;
    for (; row + 2 * kLanes <= t.lanes; row += 2 * kLanes) add_softmax_pairs_of<2>(t, row, block, tile, rows);
    if (row < t.lanes) add_softmax_pairs_of<1>(t, row, block, tile, rows);
  });
}
void shares_kernel(Index lanes, float sink, const LaneSums& rows, float* share) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes) {
    const Vector old_top = hn::LoadU(d, rows.top + row), old_sum = hn::LoadU(d, rows.sum + row);
    // The largest of scores that are NaN may be anything, but their sum is NaN.
    const Mask dead = hn::And(is_refused(old_top), hn::Eq(old_sum, hn::Zero(d)));
    Vector top = old_top, sum = old_sum, decay = hn::Set(d, 1.0f);
    if (sink != kMinusInfinity) add_sink(hn::Set(d, sink), top, sum, decay);
    hn::StoreU(hn::IfThenElse(dead, old_top, top), d, rows.top + row);
    hn::StoreU(hn::IfThenElse(dead, old_sum, sum), d, rows.sum + row);
    hn::StoreU(hn::IfThenZeroElse(dead, hn::Div(decay, sum)), d, share + row);
  }
}
void statistics_kernel(Index lanes, const LaneSums& rows, float* stat) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes) {
    hn::StoreU(statistic_of(hn::LoadU(d, rows.top + row), hn::LoadU(d, rows.sum + row)), d, stat + row);
  }
}

void weigh_softmax(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  weigh<Shape<SoftmaxWeights>>(t, top, factor, tile);
}
void softmax_gradients(const AttentionLanes& t, const LanePart& part, const float* stat, const float* delta,
                       float scale, float* tile, float* dweights, float* dbias) {
  gradients<Shape<SoftmaxWeights>>(t, part, stat, delta, scale, tile, dweights, dbias);
}
void softmax_gradient_factors(const AttentionLanes& t, const float* stat, const float* delta, float scale,
                              const float* tile, const float* dweights, float* dbias, const GradientFactors& to) {
  gradient_factors<Shape<NarrowSoftmaxWeights>>(t, stat, delta, scale, tile, dweights, dbias, to);
}
template <class Weights>
HWY_INLINE void flow_of(const AttentionLanes& t, const LanePart& part, const float* stat, const float* tile,
                        const float* dweights, float* flow) {
  const Floats d;
  for_block<true>(t, [&](const auto& block) HWY_ATTR {
    for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
      const Vector shift = Weights::shift(hn::LoadU(d, stat + row));
      Vector sum = hn::LoadU(d, flow + row);
      for (Index key = part.first_key; key < part.end_key; ++key) {
        const Index at = key * t.lanes + row;
        const Vector score = block.score(hn::LoadU(d, tile + at), key, row);
        const Vector weight = Weights::weight(score, shift);
        const Vector given = hn::Mul(weight, block.kept(hn::LoadU(d, dweights + at), key, row));
        sum = hn::Add(sum, hn::IfThenZeroElse(is_refused(score), given));
      }
      hn::StoreU(sum, d, flow + row);
    }
  });
}
void softmax_flow(const AttentionLanes& t, const LanePart& part, bool narrow, const float* stat, const float* tile,
                  const float* dweights, float* flow) {
  narrow ? flow_of<NarrowSoftmaxWeights>(t, part, stat, tile, dweights, flow)
         : flow_of<SoftmaxWeights>(t, part, stat, tile, dweights, flow);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(add_softmax);
HEED_EXPORT(add_softmax_pairs);
HEED_EXPORT(weigh_softmax);
HEED_EXPORT(softmax_gradients);
HEED_EXPORT(softmax_gradient_factors);
HEED_EXPORT(softmax_flow);
HEED_EXPORT(shares_kernel);
HEED_EXPORT(statistics_kernel);

namespace {

void softmax_add(const AttentionLanes& block, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(add_softmax)(block, parts, tile, rows);
}
void softmax_add_pairs(const AttentionLanes& block, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(add_softmax_pairs)(block, tile, rows);
}
void softmax_weigh(const AttentionLanes& block, const float* top, const float* factor, float* tile) {
  HEED_DISPATCH(weigh_softmax)(block, top, factor, tile);
}
void gradients_of_softmax(const AttentionLanes& block, const LanePart& part, const float* stat, const float* delta,
                          float scale, float* tile, float* dweights, float* dbias) {
  HEED_DISPATCH(softmax_gradients)(block, part, stat, delta, scale, tile, dweights, dbias);
}
void factors_of_softmax(const AttentionLanes& block, const float* stat, const float* delta, float scale,
                        const float* tile, const float* dweights, float* dbias, const GradientFactors& to) {
  HEED_DISPATCH(softmax_gradient_factors)(block, stat, delta, scale, tile, dweights, dbias, to);
}
void flow_of_softmax(const AttentionLanes& block, const LanePart& part, const float* stat, const float* tile,
                     const float* dweights, float* flow) {
  HEED_DISPATCH(softmax_flow)(block, part, false, stat, tile, dweights, flow);
}
void narrow_flow_of_softmax(const AttentionLanes& block, const LanePart& part, const float* stat, const float* tile,
                            const float* dweights, float* flow) {
  HEED_DISPATCH(softmax_flow)(block, part, true, stat, tile, dweights, flow);
}

}  // namespace

const LaneNormaliser kSoftmaxLanes{.add = softmax_add,
                                   .add_pairs = softmax_add_pairs,
                                   .sums_to_one = true,
                                   .weigh = softmax_weigh,
                                   .gradients = gradients_of_softmax,
                                   .gradient_factors = factors_of_softmax,
                                   .flow = flow_of_softmax,
                                   .narrow_flow = narrow_flow_of_softmax};

void softmax_lane_shares(Index lanes, float sink, const LaneSums& rows, float* share) {
  HEED_DISPATCH(shares_kernel)(lanes, sink, rows, share);
}

void softmax_lane_statistics(Index lanes, const LaneSums& rows, float* stat) {
  HEED_DISPATCH(statistics_kernel)(lanes, rows, stat);
}

}  // namespace heed::kernels
#endif
