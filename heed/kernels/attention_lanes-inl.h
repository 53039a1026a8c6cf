// What the normalisers over lanes share: what a block has beside its scores, and their passes, of which each gives the
// function of one score. Included once per target, as Highway's own -inl headers are.
#if defined(HEED_KERNELS_ATTENTION_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_LANES_INL_H_
#undef HEED_KERNELS_ATTENTION_LANES_INL_H_
#else
#define HEED_KERNELS_ATTENTION_LANES_INL_H_
#endif

#include <hwy/cache_control.h>

#include <array>
#include <cstdint>

#include "heed/kernels/attention_lanes.h"
#include "heed/kernels/bf16_rounding-inl.h"
#include "heed/kernels/lane_scores-inl.h"
#include "heed/kernels/pair_unit.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// Read from memory they cost no work of the vectors' units.
constexpr std::array<std::uint32_t, 32> kBits = [] {
  std::array<std::uint32_t, 32> bits{};
  for (std::size_t n = 0; n < bits.size(); ++n) bits[n] = std::uint32_t{1} << n;
  return bits;
}();

// The rows whose bit of the key is set.
HWY_INLINE Mask has_bit(const std::uint32_t* words, const AttentionLanes& t, Index key, Index row) {
  const Words d;
  const auto word = hn::LoadU(d, words + key / 32 * t.lanes + row);
  return hn::RebindMask(Floats(), hn::TestBit(word, hn::Set(d, kBits[key % 32])));
}

// What a block's loops have code for beside the scores: nothing, a single thing, or what they then ask for at each key.
enum class Beside { nothing, bias, mask, cap, anything };

// With kScales, what lies there are products.
template <Beside kBeside, bool kDrops, bool kScales>
struct Block {
  static constexpr bool kChangesScores = kBeside != Beside::nothing;
  const AttentionLanes t;  // a copy, which no store to the tile can change
  const float inverse_cap = t.cap == 0 ? 0.0f : 1.0f / t.cap;

  HWY_INLINE explicit Block(const AttentionLanes& block) : t(block) {}

  // After the cap.
  HWY_INLINE Vector bent(Vector x) const {
    if constexpr (kScales) x = hn::Mul(x, hn::Set(Floats(), t.scale));
    if (has_cap()) return bent_score(t.cap, inverse_cap, x);
    return x;
  }
  // After bias and mask: a refused key is -inf.
  HWY_INLINE Vector beside(Vector x, Index key, Index row) const {
    const Floats d;
    if constexpr (kBeside == Beside::bias || kBeside == Beside::anything) {
      if (kBeside == Beside::bias || t.bias != nullptr) x = hn::Add(x, hn::LoadU(d, t.bias + key * t.bias_key + row));
      // A step for each key and vector of rows takes a line of a row for each vector of keys.
      if (t.bias_ahead != nullptr) hwy::Prefetch(t.bias_ahead + key * t.bias_ahead_row + row);
    }
    if constexpr (kBeside == Beside::mask || kBeside == Beside::anything) {
      if (kBeside == Beside::mask || t.allowed != nullptr) {
        x = hn::IfThenElse(has_bit(t.allowed, t, key, row), x, hn::Set(d, kMinusInfinity));
      }
    }
    return x;
  }
  HWY_INLINE Vector score(Vector x, Index key, Index row) const { return beside(bent(x), key, row); }
  HWY_INLINE bool has_cap() const { return kBeside == Beside::cap || (kBeside == Beside::anything && t.cap != 0); }

  HWY_INLINE Vector kept(Vector x, Index key, Index row) const {
    if constexpr (!kDrops) return x;
    return hn::IfThenElseZero(has_bit(t.kept, t, key, row), hn::Mul(x, hn::Set(Floats(), t.keep_scale)));
  }
};

template <bool kDrops, bool kScales, class F>
HWY_INLINE void for_beside(const AttentionLanes& t, const F& f) {
  const bool cap = t.cap != 0, bias = t.bias != nullptr, mask = t.allowed != nullptr;
  // Of scores that are products times a positive number the largest is that of the largest product.
  const bool keeps_order = !kScales || t.scale > 0;
  if (!keeps_order) return f(Block<Beside::anything, kDrops, kScales>(t));
  if (!cap && !bias && !mask) return f(Block<Beside::nothing, kDrops, kScales>(t));
  if (!cap && !mask) return f(Block<Beside::bias, kDrops, kScales>(t));
  if (!cap && !bias) return f(Block<Beside::mask, kDrops, kScales>(t));
  if (!bias && !mask) return f(Block<Beside::cap, kDrops, kScales>(t));
  f(Block<Beside::anything, kDrops, kScales>(t));
}

template <bool kScales, class F>
HWY_INLINE void for_block(const AttentionLanes& t, const F& f) {
  if (t.kept == nullptr) return for_beside<false, kScales>(t, f);
  for_beside<true, kScales>(t, f);
}

// Calls f(key, chain) for the keys of a part in order.
template <class F>
HWY_INLINE void for_keys(const LanePart& part, const F& f) {
  Index key = part.first_key;
  for (; key + 4 <= part.end_key; key += 4)
    for (Index chain = 0; chain < 4; ++chain) f(key + chain, chain);
  for (; key < part.end_key; ++key) f(key, key % 4);
}

HWY_INLINE Vector largest_of(const Vector (&of)[4]) { return hn::Max(hn::Max(of[0], of[1]), hn::Max(of[2], of[3])); }
HWY_INLINE Vector sum_of(const Vector (&of)[4]) { return hn::Add(hn::Add(of[0], of[1]), hn::Add(of[2], of[3])); }

// A Shape is what a normaliser makes of scores: weight(score, shift) with the shift(stat) of a row's largest or of its
// statistic; and share(weight), for the gradient share (kept dweight - delta).

// Replaces the scores of kVectors vectors of rows by weights, as pairs of keys in bf16 with zeros up to a whole number
// of kPairDepth keys: weight(key, chain, v) of the keys in order.
template <int kVectors, class F>
HWY_INLINE void store_weight_pairs(const AttentionLanes& t, float* tile, const F& weight) {
  auto* pairs = reinterpret_cast<std::uint32_t*>(tile);
  const Index lanes = t.lanes;  // not read again after each store
  Index key = 0;
  for (; key + 4 <= t.keys; key += 4)
    for (Index chain = 0; chain < 4; chain += 2, pairs += lanes)
      for (int v = 0; v < kVectors; ++v) {
        const Vector lower = weight(key + chain, chain, v);
        store_pairs(lower, weight(key + chain + 1, chain + 1, v), pairs + v * kLanes);
      }
  const Vector zero = hn::Zero(Floats());
  for (; key < round_up(t.keys, kPairDepth); key += 2, pairs += lanes)
    for (int v = 0; v < kVectors; ++v) {
      const Vector lower = key < t.keys ? weight(key, key % 4, v) : zero;
      store_pairs(lower, key + 1 < t.keys ? weight(key + 1, key % 4 + 1, v) : zero, pairs + v * kLanes);
    }
}

template <class Shape>
HWY_INLINE void weigh(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  const Floats d;
  for_beside<false, true>(t, [&](const auto& block) HWY_ATTR {
    for (Index row = 0; row < t.lanes; row += kLanes) {
      const Vector shift = Shape::shift(hn::LoadU(d, top + row)), share = hn::LoadU(d, factor + row);
      for (Index key = 0; key < t.keys; ++key) {
        float* at = tile + key * t.lanes + row;
        const Vector score = block.score(hn::LoadU(d, at), key, row);
        const Vector weight = hn::Mul(Shape::weight(score, shift), share);
        hn::StoreU(hn::IfThenZeroElse(is_refused(score), weight), d, at);
      }
    }
  });
}

// What flows through a block's scores.
template <class Shape, class B>
class Flow {
 public:
  HWY_INLINE Flow(const B& block, float scale, const float* tile, const float* dweights, float* dbias)
      : block_(block), scale_(scale), tile_(tile), dweights_(dweights), dbias_(dbias) {}

  // Of a vector of rows.
  struct Rows {
    Index row;
    Vector shift, mean;
  };
  HWY_INLINE Rows rows(Index row, const float* stat, const float* delta) const {
    const Floats d;
    if (row >= block_.t.lanes) return {row, hn::Zero(d), hn::Zero(d)};
    return {row, Shape::shift(hn::LoadU(d, stat + row)), hn::LoadU(d, delta + row)};
  }

  struct AtKey {
    Vector weight, dscore;  // after dropout, and of the score before the cap times the scale
  };
  HWY_INLINE AtKey at(Index key, const Rows& rows) const {
    const Floats d;
    const Index at = key * block_.t.lanes + rows.row;
    const Vector bent = block_.bent(hn::LoadU(d, tile_ + at)), score = block_.beside(bent, key, rows.row);
    const Mask refused = is_refused(score);
    const Vector weight = hn::IfThenZeroElse(refused, Shape::weight(score, rows.shift));
    const Vector flow = block_.kept(hn::LoadU(d, dweights_ + at), key, rows.row);
    Vector gradient = hn::IfThenZeroElse(refused, hn::Mul(Shape::share(weight), hn::Sub(flow, rows.mean)));
    if (dbias_ != nullptr) hn::StoreU(gradient, d, dbias_ + at);
    if (block_.has_cap()) {
      const Vector ratio = hn::Mul(bent, hn::Set(d, block_.inverse_cap));  // of the cap
      gradient = hn::IfThenZeroElse(refused, hn::Mul(gradient, hn::NegMulAdd(ratio, ratio, hn::Set(d, 1.0f))));
    }
    return {block_.kept(weight, key, rows.row), hn::Mul(gradient, hn::Set(d, scale_))};
  }

 private:
  const B& block_;
  const float scale_;
  const float* HWY_RESTRICT tile_;
  const float* HWY_RESTRICT dweights_;
  float* HWY_RESTRICT dbias_;
};

template <class Shape>
HWY_INLINE void gradients(const AttentionLanes& t, const LanePart& part, const float* stat, const float* delta,
                          float scale, float* tile, float* dweights, float* dbias) {
  for_block<false>(t, [&]<class B>(const B& block) HWY_ATTR {
    const Floats d;
    const Flow<Shape, B> flow(block, scale, tile, dweights, dbias);
    const Index lanes = t.lanes;  // not read again after each store
    for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
      const auto rows = flow.rows(row, stat, delta);
      for (Index key = part.first_key; key < part.end_key; ++key) {
        const auto [weight, dscore] = flow.at(key, rows);
        hn::StoreU(weight, d, tile + key * lanes + row);
        hn::StoreU(dscore, d, dweights + key * lanes + row);
      }
    }
  });
}

// Two vectors of rows against two keys; with kAll, all of them are there.
template <bool kAll, class F>
HWY_INLINE void store_factors(Index keys, Index lanes, const F& flow, const typename F::Rows (&rows)[2], Index key,
                              const GradientFactors& to) {
  typename F::AtKey of[2][2];
  for (Index k = 0; k < 2; ++k)
    for (int v = 0; v < 2; ++v) {
      const bool there = kAll || (key + k < keys && rows[v].row < lanes);
      of[k][v] = there ? flow.at(key + k, rows[v]) : typename F::AtKey{hn::Zero(Floats()), hn::Zero(Floats())};
    }
  for (Index k = 0; k < 2; ++k) {
    const Index at = (key + k) * to.row + rows[0].row;
    store_beside(of[k][0].weight, of[k][1].weight, to.weights + at);
    store_beside(of[k][0].dscore, of[k][1].dscore, to.dscores + at);
  }
  for (int v = 0; v < 2; ++v) {
    if (!kAll && rows[v].row >= lanes) continue;
    store_pairs(of[0][v].dscore, of[1][v].dscore, to.dscore_pairs + key / 2 * lanes + rows[v].row);
  }
}

template <class Shape>
HWY_INLINE void gradient_factors(const AttentionLanes& t, const float* stat, const float* delta, float scale,
                                 const float* tile, const float* dweights, float* dbias,
                                 const GradientFactors& factors) {
  for_block<true>(t, [&]<class B>(const B& block) HWY_ATTR {
    using F = Flow<Shape, B>;
    const F flow(block, scale, tile, dweights, dbias);
    const GradientFactors to = factors;  // not read again after each store
    const Index keys = t.keys, lanes = t.lanes;
    for (Index row = 0; row < to.row; row += 2 * kLanes) {
      const bool all = row + 2 * kLanes <= lanes;
      const typename F::Rows rows[2] = {flow.rows(row, stat, delta), flow.rows(row + kLanes, stat, delta)};
      Index key = 0;
      for (; all && key + 2 <= keys; key += 2) store_factors<true>(keys, lanes, flow, rows, key, to);
      for (; key < round_up(keys, kPairDepth); key += 2) store_factors<false>(keys, lanes, flow, rows, key, to);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
