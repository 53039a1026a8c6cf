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
#include "heed/kernels/lane_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Words = hn::RebindToUnsigned<Floats>;
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

template <Beside kBeside, bool kDrops>
struct Block {
  static constexpr bool kChangesScores = kBeside != Beside::nothing;
  const AttentionLanes t;  // a copy, which no store to the tile can change
  const float inverse_cap = t.cap == 0 ? 0.0f : 1.0f / t.cap;

  HWY_INLINE explicit Block(const AttentionLanes& block) : t(block) {}

  // After the cap.
  HWY_INLINE Vector bent(Vector x) const {
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

template <bool kDrops, class F>
HWY_INLINE void for_beside(const AttentionLanes& t, const F& f) {
  const bool cap = t.cap != 0, bias = t.bias != nullptr, mask = t.allowed != nullptr;
  if (!cap && !bias && !mask) return f(Block<Beside::nothing, kDrops>(t));
  if (!cap && !mask) return f(Block<Beside::bias, kDrops>(t));
  if (!cap && !bias) return f(Block<Beside::mask, kDrops>(t));
  if (!bias && !mask) return f(Block<Beside::cap, kDrops>(t));
  f(Block<Beside::anything, kDrops>(t));
}

template <class F>
HWY_INLINE void for_block(const AttentionLanes& t, const F& f) {
  if (t.kept == nullptr) return for_beside<false>(t, f);
  for_beside<true>(t, f);
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

// What the scores of a row are compared to. A Shape is what a normaliser makes of them: weight(score), with kFollowsTop
// of the difference to the row's largest or to its statistic; and share(weight), for the gradient share (kept dweight -
// delta).
template <class Shape>
HWY_INLINE Vector shift_for(Vector top) {
  if constexpr (Shape::kFollowsTop) return shift_of(top);
  return hn::Zero(Floats());
}

template <class Shape>
HWY_INLINE void weigh(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  const Floats d;
  for_beside<false>(t, [&](const auto& block) HWY_ATTR {
    for (Index row = 0; row < t.lanes; row += kLanes) {
      const Vector shift = shift_for<Shape>(hn::LoadU(d, top + row)), share = hn::LoadU(d, factor + row);
      for (Index key = 0; key < t.keys; ++key) {
        float* at = tile + key * t.lanes + row;
        const Vector score = block.score(hn::LoadU(d, at), key, row);
        const Vector weight = hn::Mul(Shape::weight(hn::Sub(score, shift)), share);
        hn::StoreU(hn::IfThenZeroElse(is_refused(score), weight), d, at);
      }
    }
  });
}

template <class Shape, class B>
HWY_INLINE void gradient_block(const AttentionLanes& t, const LanePart& part, const B& block, const float* stat,
                               const float* delta, float scale, float* HWY_RESTRICT tile, float* HWY_RESTRICT dweights,
                               float* HWY_RESTRICT dbias) {
  const Floats d;
  for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
    const Vector shift = shift_for<Shape>(hn::LoadU(d, stat + row)), mean = hn::LoadU(d, delta + row);
    for (Index key = part.first_key; key < part.end_key; ++key) {
      const Index at = key * t.lanes + row;
      const Vector bent = block.bent(hn::LoadU(d, tile + at)), score = block.beside(bent, key, row);
      const Mask refused = is_refused(score);
      const Vector weight = hn::IfThenZeroElse(refused, Shape::weight(hn::Sub(score, shift)));
      const Vector flow = block.kept(hn::LoadU(d, dweights + at), key, row);
      Vector gradient = hn::IfThenZeroElse(refused, hn::Mul(Shape::share(weight), hn::Sub(flow, mean)));
      if (dbias != nullptr) hn::StoreU(gradient, d, dbias + at);
      if (block.has_cap()) {
        const Vector ratio = hn::Mul(bent, hn::Set(d, block.inverse_cap));  // of the cap
        gradient = hn::IfThenZeroElse(refused, hn::Mul(gradient, hn::NegMulAdd(ratio, ratio, hn::Set(d, 1.0f))));
      }
      hn::StoreU(block.kept(weight, key, row), d, tile + at);
      hn::StoreU(hn::Mul(gradient, hn::Set(d, scale)), d, dweights + at);
    }
  }
}

template <class Shape>
HWY_INLINE void gradients(const AttentionLanes& t, const LanePart& part, const float* stat, const float* delta,
                          float scale, float* tile, float* dweights, float* dbias) {
  for_block(t, [&](const auto& block)
                   HWY_ATTR { gradient_block<Shape>(t, part, block, stat, delta, scale, tile, dweights, dbias); });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
