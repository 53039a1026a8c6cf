// The types of stored rows, for the kernels that read them (stored_rows.h): how their numbers become floats in
// registers. Included once per target, as Highway's own -inl headers are.
#if defined(HEED_KERNELS_STORED_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_STORED_NUMBERS_INL_H_
#undef HEED_KERNELS_STORED_NUMBERS_INL_H_
#else
#define HEED_KERNELS_STORED_NUMBERS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/lanes-inl.h"
#include "heed/tensor/dtype.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using Words = hn::RebindToSigned<Floats>;  // as many bits as a float has
using WordVector = hn::Vec<Words>;

constexpr Index kWordBytes = 4;

// How many numbers of a type a word holds, and those numbers as floats: number n of each lane's word (a key's), and a
// vector of numbers that follow each other (a value's). `scale` counts where the type has one.
struct FloatRow {
  static constexpr Index kInWord = 1;
  static constexpr bool kScaled = false;
  using Number = float;
  template <int n>
  static HWY_INLINE Vector of_words(WordVector words, Vector) {
    return hn::BitCast(Floats(), words);
  }
  static HWY_INLINE Vector load(const float* from, std::size_t count, Vector) {
    return load_some(Floats(), from, count);
  }
};

struct BFloat16Row {
  static constexpr Index kInWord = 2;
  static constexpr bool kScaled = false;
  using Number = std::uint16_t;
  template <int n>
  static HWY_INLINE Vector of_words(WordVector words, Vector) {
    if constexpr (n == 0) return hn::BitCast(Floats(), hn::ShiftLeft<16>(words));
    return hn::BitCast(Floats(), hn::And(words, hn::Set(Words(), static_cast<std::int32_t>(0xFFFF0000u))));
  }
  static HWY_INLINE Vector load(const std::uint16_t* from, std::size_t count, Vector) {
    const hn::RebindToUnsigned<Floats> d32;
    const hn::Rebind<std::uint16_t, Floats> d16;
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(d32, load_some(d16, from, count))));
  }
};

struct Float16Row {
  static constexpr Index kInWord = 2;
  static constexpr bool kScaled = false;
  using Number = hwy::float16_t;
  template <int n>
  static HWY_INLINE Vector of_words(WordVector words, Vector) {
    const hn::RebindToUnsigned<Floats> d32;
    const hn::Rebind<std::uint16_t, Floats> d16;
    const hn::Rebind<hwy::float16_t, Floats> half;
    auto bits = hn::BitCast(d32, words);
    bits = n == 0 ? hn::And(bits, hn::Set(d32, 0xFFFFu)) : hn::ShiftRight<16>(bits);  // TruncateTo may saturate
    return hn::PromoteTo(Floats(), hn::BitCast(half, hn::TruncateTo(d16, bits)));
  }
  static HWY_INLINE Vector load(const hwy::float16_t* from, std::size_t count, Vector) {
    const hn::Rebind<std::uint16_t, Floats> d16;
    const hn::Rebind<hwy::float16_t, Floats> half;
    const auto* const bits = static_cast<const std::uint16_t*>(static_cast<const void*>(from));
    return hn::PromoteTo(Floats(), hn::BitCast(half, load_some(d16, bits, count)));
  }
};

struct Int8Row {
  static constexpr Index kInWord = 4;
  static constexpr bool kScaled = true;
  using Number = std::int8_t;
  template <int n>
  static HWY_INLINE Vector of_words(WordVector words, Vector scale) {
    if constexpr (n < 3) words = hn::ShiftLeft<24 - 8 * n>(words);
    return hn::Mul(hn::ConvertTo(Floats(), hn::ShiftRight<24>(words)), scale);
  }
  static HWY_INLINE Vector load(const std::int8_t* from, std::size_t count, Vector scale) {
    const hn::Rebind<std::int8_t, Floats> d8;
    return hn::Mul(hn::ConvertTo(Floats(), hn::PromoteTo(Words(), load_some(d8, from, count))), scale);
  }
};

// Calls f(a row of that type, how many rows in a type).
template <class Row, class F>
HWY_INLINE void with_rows(Index rows, const F& f) {
  if (rows == 1) return f(Row(), std::integral_constant<int, 1>());
  if (rows == 2) return f(Row(), std::integral_constant<int, 2>());
  if (rows == 4) return f(Row(), std::integral_constant<int, 4>());
  f(Row(), std::integral_constant<int, 8>());
}
template <class F>
HWY_INLINE void with_type_and_rows(DType dtype, Index rows, const F& f) {
  if (dtype == DType::i8) return with_rows<Int8Row>(rows, f);
  if (dtype == DType::bf16) return with_rows<BFloat16Row>(rows, f);
  if (dtype == DType::f16) return with_rows<Float16Row>(rows, f);
  with_rows<FloatRow>(rows, f);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif
