// The largest score of a block goes down its columns, then the exponentials of the differences to it: where it moved, what
// the row has so far is multiplied by the exponential of how far (Milakov & Gimelshein 2018), a number that depends on
// the row alone. Blocks begin at fixed keys, so that no bit depends on how rows are cut into tiles.
#include "heed/kernels/attention_lanes.h"

#include <algorithm>
#include <limits>

#include "heed/kernels/dispatch.h"

// The tiles keep vectors in arrays, which vectors of unknown size cannot be.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"
#include "heed/kernels/math-inl.h"
#include "heed/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Mask = hn::Mask<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

HWY_INLINE Vector bent_score(const AttentionLanes& t, Vector score) {
  const Floats d;
  return hn::Mul(hn::Set(d, t.cap), tanh(d, hn::Div(score, hn::Set(d, t.cap))));
}

// The rows whose bit of the key is set.
HWY_INLINE Mask has_bit(const std::uint32_t* words, const AttentionLanes& t, Index key, Index row) {
  const Words d;
  const auto bit = hn::Set(d, std::uint32_t{1} << (key % 32));
  const auto word = hn::LoadU(d, words + key / 32 * t.lanes + row);
  return hn::RebindMask(Floats(), hn::TestBit(word, bit));
}

// What a block may have beside its scores. Without any of it, the loops have no code for it.
template <bool kPlain>
struct Block {
  static constexpr bool kChangesScores = !kPlain;
  const AttentionLanes& t;

  // After cap, bias and mask: a refused key is -inf.
  HWY_INLINE Vector score(Vector x, Index key, Index row) const {
    if constexpr (kPlain) return x;
    const Floats d;
    if (t.cap != 0) x = bent_score(t, x);
    if (t.bias != nullptr) x = hn::Add(x, hn::LoadU(d, t.bias + key * t.lanes + row));
    if (t.allowed == nullptr) return x;
    return hn::IfThenElse(has_bit(t.allowed, t, key, row), x, hn::Set(d, kMinusInfinity));
  }
  HWY_INLINE Vector kept(Vector x, Index key, Index row) const {
    if constexpr (kPlain) return x;
    if (t.kept == nullptr) return x;
    return hn::IfThenElseZero(has_bit(t.kept, t, key, row), hn::Mul(x, hn::Set(Floats(), t.keep_scale)));
  }
};

template <class F>
HWY_INLINE void for_block(const AttentionLanes& t, const F& f) {
  if (t.cap == 0 && t.bias == nullptr && t.allowed == nullptr && t.kept == nullptr) return f(Block<true>{t});
  f(Block<false>{t});
}

// What differences are taken to: a row of refused keys alone has -inf, which must not be subtracted from itself.
HWY_INLINE Vector shift_of(Vector top) {
  return hn::IfThenZeroElse(hn::Eq(top, hn::Set(Floats(), kMinusInfinity)), top);
}

HWY_INLINE Mask is_refused(Vector score) { return hn::Eq(score, hn::Set(Floats(), kMinusInfinity)); }

template <class B>
HWY_INLINE void softmax_block(const AttentionLanes& t, const B& block, float* HWY_RESTRICT tile, const LaneSums& rows) {
  const Floats d;
  for (Index row = 0; row < t.lanes; row += kLanes) {
    const Vector none = hn::Set(d, kMinusInfinity);
    Vector largest[4] = {none, none, none, none};
    const auto read = [&](Index key, Vector& most) HWY_ATTR {
      float* at = tile + key * t.lanes + row;
      const Vector score = block.score(hn::LoadU(d, at), key, row);
      if constexpr (B::kChangesScores) hn::StoreU(score, d, at);
      most = hn::Max(most, score);  // which may lose a NaN: the sum has it
    };
    Index key = 0;
    for (; key + 4 <= t.keys; key += 4)
      for (Index step = 0; step < 4; ++step) read(key + step, largest[step]);
    for (; key < t.keys; ++key) read(key, largest[0]);
    const Vector before = hn::LoadU(d, rows.top + row);
    const Vector top = hn::Max(hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3])), before);
    const Vector shift = shift_of(top), decay = exp_or_zero(d, hn::Sub(before, shift));
    Vector sum = hn::Mul(hn::LoadU(d, rows.sum + row), decay);
    for (key = 0; key < t.keys; ++key) {
      float* at = tile + key * t.lanes + row;
      const Vector weight = exp_or_zero(d, hn::Sub(hn::LoadU(d, at), shift));
      sum = hn::Add(sum, weight);
      hn::StoreU(block.kept(weight, key, row), d, at);
    }
    hn::StoreU(top, d, rows.top + row);
    hn::StoreU(sum, d, rows.sum + row);
    hn::StoreU(decay, d, rows.decay + row);
  }
}

void softmax_kernel(const AttentionLanes& t, float* tile, const LaneSums& rows) {
  for_block(t, [&](const auto& block) HWY_ATTR { softmax_block(t, block, tile, rows); });
}

void sink_kernel(Index lanes, float sink, const LaneSums& rows) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes) {
    const Vector before = hn::LoadU(d, rows.top + row), top = hn::Max(before, hn::Set(d, sink)), shift = shift_of(top);
    const Vector decay = exp_or_zero(d, hn::Sub(before, shift)), own = exp_or_zero(d, hn::Sub(hn::Set(d, sink), shift));
    hn::StoreU(hn::MulAdd(hn::LoadU(d, rows.sum + row), decay, own), d, rows.sum + row);
    hn::StoreU(top, d, rows.top + row);
    hn::StoreU(decay, d, rows.decay + row);
  }
}

void weight_kernel(const AttentionLanes& t, const float* top, const float* factor, float* tile) {
  const Floats d;
  for (Index row = 0; row < t.lanes; row += kLanes) {
    const Vector shift = shift_of(hn::LoadU(d, top + row)), share = hn::LoadU(d, factor + row);
    for (Index key = 0; key < t.keys; ++key) {
      float* at = tile + key * t.lanes + row;
      const Vector score = Block<false>{t}.score(hn::LoadU(d, at), key, row);
      const Vector weight = hn::Mul(exp_or_zero(d, hn::Sub(score, shift)), share);
      hn::StoreU(hn::IfThenZeroElse(is_refused(score), weight), d, at);
    }
  }
}

void score_kernel(const AttentionLanes& t, float* tile) {
  const Floats d;
  for (Index row = 0; row < t.lanes; row += kLanes)
    for (Index key = 0; key < t.keys; ++key) {
      float* at = tile + key * t.lanes + row;
      hn::StoreU(Block<false>{t}.score(hn::LoadU(d, at), key, row), d, at);
    }
}

template <class B>
HWY_INLINE void gradient_block(const AttentionLanes& t, const B& block, const float* stat, const float* delta,
                               float scale, float* HWY_RESTRICT tile, float* HWY_RESTRICT dweights,
                               float* HWY_RESTRICT dbias) {
  const Floats d;
  for (Index row = 0; row < t.lanes; row += kLanes) {
    const Vector shift = shift_of(hn::LoadU(d, stat + row)), mean = hn::LoadU(d, delta + row);
    for (Index key = 0; key < t.keys; ++key) {
      const Index at = key * t.lanes + row;
      const Vector product = hn::LoadU(d, tile + at), score = block.score(product, key, row);
      const Mask refused = is_refused(score);
      const Vector weight = hn::IfThenZeroElse(refused, exp_or_zero(d, hn::Sub(score, shift)));
      const Vector flow = block.kept(hn::LoadU(d, dweights + at), key, row);
      Vector gradient = hn::IfThenZeroElse(refused, hn::Mul(weight, hn::Sub(flow, mean)));
      if (dbias != nullptr) hn::StoreU(gradient, d, dbias + at);
      if (t.cap != 0) {
        const Vector bent = hn::Div(bent_score(t, product), hn::Set(d, t.cap));
        gradient = hn::IfThenZeroElse(refused, hn::Mul(gradient, hn::NegMulAdd(bent, bent, hn::Set(d, 1.0f))));
      }
      hn::StoreU(block.kept(weight, key, row), d, tile + at);
      hn::StoreU(hn::Mul(gradient, hn::Set(d, scale)), d, dweights + at);
    }
  }
}

void gradient_kernel(const AttentionLanes& t, const float* stat, const float* delta, float scale, float* tile,
                     float* dweights, float* dbias) {
  for_block(t, [&](const auto& block)
                   HWY_ATTR { gradient_block(t, block, stat, delta, scale, tile, dweights, dbias); });
}

void flow_kernel(const AttentionLanes& t, const float* stat, const float* tile, const float* dweights, float* flow) {
  const Floats d;
  const Block<false> block{t};
  for (Index row = 0; row < t.lanes; row += kLanes) {
    const Vector shift = shift_of(hn::LoadU(d, stat + row));
    Vector sum = hn::LoadU(d, flow + row);
    for (Index key = 0; key < t.keys; ++key) {
      const Index at = key * t.lanes + row;
      const Vector score = block.score(hn::LoadU(d, tile + at), key, row);
      const Vector weight = exp_or_zero(d, hn::Sub(score, shift));
      const Vector part = hn::Mul(weight, block.kept(hn::LoadU(d, dweights + at), key, row));
      sum = hn::Add(sum, hn::IfThenZeroElse(is_refused(score), part));
    }
    hn::StoreU(sum, d, flow + row);
  }
}

void to_lanes_kernel(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  const Floats d;
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index column = 0; column < columns; column += kLanes) {
      Vector block[kLanes];
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = row + r < rows ? load_first(x + (row + r) * x_row + column, columns - column) : hn::Zero(d);
      }
      transpose_block(block);
      const Index present = std::min(columns - column, kLanes);
      for (Index r = 0; r < present; ++r) hn::StoreU(block[r], d, to + (column + r) * lanes + row);
    }
}

void from_lanes_kernel(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                       Index x_row) {
  const Floats d;
  for (Index row = 0; row < rows; row += kLanes) {
    const Vector scale = factor != nullptr ? hn::LoadU(d, factor + row) : hn::Set(d, 1.0f);
    for (Index column = 0; column < columns; column += kLanes) {
      Vector block[kLanes];
      for (Index r = 0; r < kLanes; ++r) {
        block[r] = column + r < columns ? hn::Mul(hn::LoadU(d, from + (column + r) * lanes + row), scale) : hn::Zero(d);
      }
      transpose_block(block);
      const Index present = std::min(rows - row, kLanes);
      for (Index r = 0; r < present; ++r) store_first(block[r], x + (row + r) * x_row + column, columns - column);
    }
  }
}

// A lane draws for its own row: 8 keys to a block of Philox, two keys to a word.
void dropout_kernel(std::uint64_t seed, std::uint64_t stream, Index first_row, Index lanes, Index first_key,
                    std::uint32_t threshold, std::uint32_t* kept) {
  const Words d;
  const hn::RebindToSigned<Words> ds;  // what is compared has 16 bits
  const auto bound = hn::Set(ds, static_cast<std::int32_t>(threshold));
  const auto kept_bit = [&](hn::Vec<Words> half, std::uint32_t bit) HWY_ATTR {
    const auto dropped = hn::Lt(hn::BitCast(ds, half), bound);
    return hn::BitCast(d, hn::IfThenZeroElse(dropped, hn::Set(ds, static_cast<std::int32_t>(bit))));
  };
  for (Index row = 0; row < lanes; row += kLanes)
    for (Index word = 0; word < kLaneKeys / 32; ++word) {
      auto bits = hn::Zero(d);
      for (Index group = 0; group < 4; ++group) {
        const auto eight = static_cast<std::uint32_t>((first_key + word * 32) / 8 + group);
        const auto drawn = philox_lanes(d, seed, stream, hn::Set(d, eight),
                                        hn::Iota(d, static_cast<std::uint32_t>(first_row + row)));
        const hn::Vec<Words> words[4] = {drawn.word0, drawn.word1, drawn.word2, drawn.word3};
        for (Index pair = 0; pair < 4; ++pair) {
          const std::uint32_t bit = std::uint32_t{1} << (group * 8 + pair * 2);
          bits = hn::Or(bits, kept_bit(hn::And(words[pair], hn::Set(d, 0xFFFFu)), bit));
          bits = hn::Or(bits, kept_bit(hn::ShiftRight<16>(words[pair]), bit * 2));
        }
      }
      hn::StoreU(bits, d, kept + word * lanes + row);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(softmax_kernel);
HWY_EXPORT(sink_kernel);
HWY_EXPORT(weight_kernel);
HWY_EXPORT(score_kernel);
HWY_EXPORT(gradient_kernel);
HWY_EXPORT(flow_kernel);
HWY_EXPORT(to_lanes_kernel);
HWY_EXPORT(from_lanes_kernel);
HWY_EXPORT(dropout_kernel);

void softmax_lanes(const AttentionLanes& block, float* tile, const LaneSums& rows) {
  HEED_DISPATCH(softmax_kernel)(block, tile, rows);
}

void softmax_lane_sink(Index lanes, float sink, const LaneSums& rows) {
  HEED_DISPATCH(sink_kernel)(lanes, sink, rows);
}

void weight_lanes(const AttentionLanes& block, const float* top, const float* factor, float* tile) {
  HEED_DISPATCH(weight_kernel)(block, top, factor, tile);
}

void score_lanes(const AttentionLanes& block, float* tile) { HEED_DISPATCH(score_kernel)(block, tile); }

void softmax_lanes_gradients(const AttentionLanes& block, const float* stat, const float* delta, float scale,
                             float* tile, float* dweights, float* dbias) {
  HEED_DISPATCH(gradient_kernel)(block, stat, delta, scale, tile, dweights, dbias);
}

void softmax_lanes_flow(const AttentionLanes& block, const float* stat, const float* tile, const float* dweights,
                        float* flow) {
  HEED_DISPATCH(flow_kernel)(block, stat, tile, dweights, flow);
}

void rows_to_lanes(Index rows, Index columns, const float* x, Index x_row, float* to, Index lanes) {
  HEED_DISPATCH(to_lanes_kernel)(rows, columns, x, x_row, to, lanes);
}

void lanes_to_rows(Index rows, Index columns, const float* from, Index lanes, const float* factor, float* x,
                   Index x_row) {
  HEED_DISPATCH(from_lanes_kernel)(rows, columns, from, lanes, factor, x, x_row);
}

void dropout_lanes(std::uint64_t seed, std::uint64_t stream, Index first_row, Index lanes, Index first_key,
                   std::uint32_t threshold, std::uint32_t* kept) {
  HEED_DISPATCH(dropout_kernel)(seed, stream, first_row, lanes, first_key, threshold, kept);
}

}  // namespace heed::kernels
#endif
