// The largest score of a block goes down its columns, then the exponentials of the differences to it: where it moved,
// what the row has so far is multiplied by the exponential of how far (Milakov & Gimelshein 2018), a number that
// depends on the row alone. Blocks begin at fixed keys, so that no bit depends on how rows are cut into tiles.
#include "heed/kernels/attention_lanes.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <limits>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Mask = hn::Mask<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// Read from memory they cost no work of the vectors' units.
constexpr std::array<std::uint32_t, 32> kBits = [] {
  std::array<std::uint32_t, 32> bits{};
  for (std::size_t n = 0; n < bits.size(); ++n) bits[n] = std::uint32_t{1} << n;
  return bits;
}();

HWY_INLINE Vector bent_score(float cap, float inverse_cap, Vector score) {
  const Floats d;
  return hn::Mul(hn::Set(d, cap), tanh(d, hn::Mul(score, hn::Set(d, inverse_cap))));
}

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

// What differences are taken to: a row of refused keys alone has -inf, which must not be subtracted from itself.
HWY_INLINE Vector shift_of(Vector top) {
  return hn::IfThenZeroElse(hn::Eq(top, hn::Set(Floats(), kMinusInfinity)), top);
}

HWY_INLINE Mask is_refused(Vector score) { return hn::Eq(score, hn::Set(Floats(), kMinusInfinity)); }

// What a row's scores become, and what their gradients are made of: share (kept dweight - delta).
struct Softmax {
  static constexpr bool kFollowsTop = true;
  // Of the difference to the top, or to the statistic of the whole row.
  static HWY_INLINE Vector weight(Vector x) { return exp_or_zero(Floats(), x); }
  static HWY_INLINE Vector share(Vector weight) { return weight; }
};
struct Sigmoid {
  static constexpr bool kFollowsTop = false;
  static HWY_INLINE Vector weight(Vector score) { return sigmoid(Floats(), score); }
  static HWY_INLINE Vector share(Vector weight) { return hn::NegMulAdd(weight, weight, weight); }
};

// What the scores of a row are compared to.
template <class Shape>
HWY_INLINE Vector shift_for(Vector top) {
  if constexpr (Shape::kFollowsTop) return shift_of(top);
  return hn::Zero(Floats());
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
  // Of the rows that are weighed. An addition reads a score from memory itself, a subtraction from it does not.
  LanePart weighed;
  Vector before = hn::Zero(d), minus_shift = hn::Zero(d);
  for (LanePart next : Columns(parts)) {
    const Index row = next.first_lane, last_row = weighed.first_lane;
    const Vector none = hn::Set(d, kMinusInfinity);
    Vector largest[4] = {none, none, none, none};
    const auto read = [&](Index key, Index chain) HWY_ATTR {
      float* at = tile + key * t.lanes + row;
      const Vector score = block.score(hn::LoadU(d, at), key, row);
      if constexpr (B::kChangesScores) hn::StoreU(score, d, at);
      largest[chain] = hn::Max(largest[chain], score);  // which may lose a NaN: the sum has it
    };
    Vector chains[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    const auto weigh = [&](Index key, Index chain) HWY_ATTR {
      float* at = tile + key * t.lanes + last_row;
      const Vector weight = Softmax::weight(hn::Add(hn::LoadU(d, at), minus_shift));
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
      const Vector decay = Softmax::weight(hn::Add(before, minus_shift));
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

// One look at the scores is enough.
template <class B>
HWY_INLINE void add_sigmoid_block(const AttentionLanes& t, const LanePart& part, const B& block,
                                  float* HWY_RESTRICT tile, const LaneSums& rows) {
  const Floats d;
  for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
    const Vector before = hn::LoadU(d, rows.top + row), zero = hn::Zero(d);
    Vector largest[4] = {before, before, before, before}, chains[4] = {zero, zero, zero, zero};
    for_keys(part, [&](Index key, Index chain) HWY_ATTR {
      float* at = tile + key * t.lanes + row;
      const Vector score = block.score(hn::LoadU(d, at), key, row);
      const Vector weight = hn::IfThenZeroElse(is_refused(score), Sigmoid::weight(score));
      largest[chain] = hn::Max(largest[chain], score), chains[chain] = hn::Add(chains[chain], weight);
      hn::StoreU(block.kept(weight, key, row), d, at);
    });
    hn::StoreU(largest_of(largest), d, rows.top + row);
    hn::StoreU(hn::Add(hn::LoadU(d, rows.sum + row), sum_of(chains)), d, rows.sum + row);
    hn::StoreU(hn::Set(d, 1.0f), d, rows.decay + row);
  }
}

void add_softmax(const AttentionLanes& t, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  for_block(t, [&](const auto& block) HWY_ATTR { add_softmax_block(t, parts, block, tile, rows); });
}
void add_sigmoid(const AttentionLanes& t, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  for_block(t, [&](const auto& block) HWY_ATTR {
    for (const LanePart& part : parts) add_sigmoid_block(t, part, block, tile, rows);
  });
}

// Lanes from `key` on whose bit is set.
HWY_INLINE Mask has_bits(const std::uint64_t& words, Index key) {
  HWY_ALIGN const std::uint64_t bits[2] = {words >> key, 0};
  return hn::LoadMaskBits(Floats(), reinterpret_cast<const std::uint8_t*>(bits));
}

// The four chains of a row of weights, with zeros up to a whole vector behind its keys.
HWY_INLINE float chains_of(const float* row, Index keys) {
  HWY_ALIGN float chains[4] = {};
#if HWY_TARGET == HWY_SCALAR
  for (Index key = 0; key < keys; ++key) chains[key % 4] += row[key];
#else
  const hn::CappedTag<float, 4> d;
  auto sum = hn::Zero(d);
  for (Index key = 0; key < keys; key += 4) sum = hn::Add(sum, hn::LoadU(d, row + key));
  hn::Store(sum, d, chains);
#endif
  return (chains[0] + chains[1]) + (chains[2] + chains[3]);
}

void softmax_row_kernel(const AttentionRow& t, float* HWY_RESTRICT row, RowSums& sums) {
  const Floats d;
  const Vector none = hn::Set(d, kMinusInfinity);
  const float inverse_cap = t.cap == 0 ? 0.0f : 1.0f / t.cap;
  const std::uint64_t there = t.keys < kLaneKeys ? (std::uint64_t{1} << t.keys) - 1 : ~std::uint64_t{0};
  const std::uint64_t allowed = t.allowed & there;
  Vector largest = none;
  for (Index key = 0; key < t.keys; key += kLanes) {
    Vector score = hn::LoadU(d, row + key);
    if (t.cap != 0) score = bent_score(t.cap, inverse_cap, score);
    if (t.bias != nullptr) score = hn::Add(score, hn::LoadU(d, t.bias + key));
    if (allowed != ~std::uint64_t{0}) score = hn::IfThenElse(has_bits(allowed, key), score, none);
    largest = hn::Max(largest, score);
    hn::StoreU(score, d, row + key);
  }
  const float top = std::max(sums.top, hn::GetLane(hn::MaxOfLanes(d, largest)));
  const Vector shift = shift_of(hn::Set(d, top));
  for (Index key = 0; key < t.keys; key += kLanes) {
    hn::StoreU(exp_or_zero(d, hn::Sub(hn::LoadU(d, row + key), shift)), d, row + key);
  }
  const float added = chains_of(row, t.keys);
  for (Index key = 0; t.drops && key < t.keys; key += kLanes) {
    const Vector scaled = hn::Mul(hn::LoadU(d, row + key), hn::Set(d, t.keep_scale));
    hn::StoreU(hn::IfThenElseZero(has_bits(t.kept, key), scaled), d, row + key);
  }
  sums.decay = hn::GetLane(exp_or_zero(d, hn::Sub(hn::Set(d, sums.top), shift)));
  sums.sum = hn::GetLane(hn::MulAdd(hn::Set(d, sums.sum), hn::Set(d, sums.decay), hn::Set(d, added)));
  sums.top = top;
}

void decay_kernel(Index count, float decay, const float* HWY_RESTRICT added, float* HWY_RESTRICT sums) {
  const Floats d;
  for (Index i = 0; i < count; i += kLanes) {
    const Vector sum = hn::MulAdd(load_first(sums + i, count - i), hn::Set(d, decay), load_first(added + i, count - i));
    store_first(sum, sums + i, count - i);
  }
}

HWY_INLINE void add_sink(Vector sink, Vector& top, Vector& sum, Vector& decay) {
  const Floats d;
  const Vector before = top;
  top = hn::Max(before, sink);
  const Vector shift = shift_of(top);
  decay = exp_or_zero(d, hn::Sub(before, shift));
  sum = hn::MulAdd(sum, decay, exp_or_zero(d, hn::Sub(sink, shift)));
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

void row_sink_kernel(float sink, RowSums& sums) {
  const Floats d;
  Vector top = hn::Set(d, sums.top), sum = hn::Set(d, sums.sum), decay;
  add_sink(hn::Set(d, sink), top, sum, decay);
  sums = {hn::GetLane(top), hn::GetLane(sum), hn::GetLane(decay)};
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

void weigh_softmax(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  weigh<Softmax>(t, top, factor, tile);
}
void weigh_sigmoid(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  weigh<Sigmoid>(t, top, factor, tile);
}

void score_kernel(const AttentionLanes& t, float* tile) {
  const Floats d;
  const Block<Beside::anything, false> block(t);
  for (Index row = 0; row < t.lanes; row += kLanes)
    for (Index key = 0; key < t.keys; ++key) {
      float* at = tile + key * t.lanes + row;
      hn::StoreU(block.score(hn::LoadU(d, at), key, row), d, at);
    }
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

void softmax_gradients(const AttentionLanes& t, const LanePart& part, const float* stat, const float* delta,
                       float scale, float* tile, float* dweights, float* dbias) {
  gradients<Softmax>(t, part, stat, delta, scale, tile, dweights, dbias);
}
void sigmoid_gradients(const AttentionLanes& t, const LanePart& part, const float* stat, const float* delta,
                       float scale, float* tile, float* dweights, float* dbias) {
  gradients<Sigmoid>(t, part, stat, delta, scale, tile, dweights, dbias);
}

void softmax_flow(const AttentionLanes& t, const LanePart& part, const float* stat, const float* tile,
                  const float* dweights, float* flow) {
  const Floats d;
  for_block(t, [&](const auto& block) HWY_ATTR {
    for (Index row = part.first_lane; row < part.end_lane; row += kLanes) {
      const Vector shift = shift_of(hn::LoadU(d, stat + row));
      Vector sum = hn::LoadU(d, flow + row);
      for (Index key = part.first_key; key < part.end_key; ++key) {
        const Index at = key * t.lanes + row;
        const Vector score = block.score(hn::LoadU(d, tile + at), key, row);
        const Vector weight = exp_or_zero(d, hn::Sub(score, shift));
        const Vector given = hn::Mul(weight, block.kept(hn::LoadU(d, dweights + at), key, row));
        sum = hn::Add(sum, hn::IfThenZeroElse(is_refused(score), given));
      }
      hn::StoreU(sum, d, flow + row);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(add_softmax);
HEED_EXPORT(add_sigmoid);
HEED_EXPORT(softmax_row_kernel);
HEED_EXPORT(decay_kernel);
HEED_EXPORT(shares_kernel);
HEED_EXPORT(row_sink_kernel);
HEED_EXPORT(weigh_softmax);
HEED_EXPORT(weigh_sigmoid);
HEED_EXPORT(score_kernel);
HEED_EXPORT(softmax_gradients);
HEED_EXPORT(sigmoid_gradients);
HEED_EXPORT(softmax_flow);

namespace {

void softmax_add(const AttentionLanes& block, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(add_softmax)(block, parts, tile, rows);
}
void softmax_weigh(const AttentionLanes& block, const float* top, const float* factor, float* tile) {
  HEED_DISPATCH(weigh_softmax)(block, top, factor, tile);
}
void gradients_of_softmax(const AttentionLanes& block, const LanePart& part, const float* stat, const float* delta,
                          float scale, float* tile, float* dweights, float* dbias) {
  HEED_DISPATCH(softmax_gradients)(block, part, stat, delta, scale, tile, dweights, dbias);
}
void flow_of_softmax(const AttentionLanes& block, const LanePart& part, const float* stat, const float* tile,
                     const float* dweights, float* flow) {
  HEED_DISPATCH(softmax_flow)(block, part, stat, tile, dweights, flow);
}

void sigmoid_add(const AttentionLanes& block, std::span<const LanePart> parts, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(add_sigmoid)(block, parts, tile, rows);
}
void sigmoid_weigh(const AttentionLanes& block, const float* top, const float* factor, float* tile) {
  HEED_DISPATCH(weigh_sigmoid)(block, top, factor, tile);
}
void gradients_of_sigmoid(const AttentionLanes& block, const LanePart& part, const float* stat, const float* delta,
                          float scale, float* tile, float* dweights, float* dbias) {
  HEED_DISPATCH(sigmoid_gradients)(block, part, stat, delta, scale, tile, dweights, dbias);
}

}  // namespace

const LaneNormaliser kSoftmaxLanes{.add = softmax_add,
                                   .sums_to_one = true,
                                   .weigh = softmax_weigh,
                                   .gradients = gradients_of_softmax,
                                   .flow = flow_of_softmax};

const LaneNormaliser kSigmoidLanes{.add = sigmoid_add,
                                   .sums_to_one = false,
                                   .weigh = sigmoid_weigh,
                                   .gradients = gradients_of_sigmoid,
                                   .flow = nullptr};

void softmax_row(const AttentionRow& block, float* row, RowSums& sums) {
  HEED_DISPATCH(softmax_row_kernel)(block, row, sums);
}

void decay_row(Index count, float decay, const float* added, float* sums) {
  HEED_DISPATCH(decay_kernel)(count, decay, added, sums);
}

void softmax_lane_shares(Index lanes, float sink, const LaneSums& rows, float* share) {
  HEED_DISPATCH(shares_kernel)(lanes, sink, rows, share);
}

void softmax_row_sink(float sink, RowSums& sums) { HEED_DISPATCH(row_sink_kernel)(sink, sums); }

void score_lanes(const AttentionLanes& block, float* tile) { HEED_DISPATCH(score_kernel)(block, tile); }

}  // namespace heed::kernels
#endif
