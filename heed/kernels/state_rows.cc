#include "heed/kernels/state_rows.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/dispatch.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/state_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/float_vectors-inl.h"
#include "heed/kernels/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// Calls f(column, how many columns are left) for each vector of a row.
template <class F>
HWY_INLINE void for_vectors(Index columns, const F& f) {
  for (Index at = 0; at < columns; at += kLanes) f(at, static_cast<std::size_t>(columns - at));
}

void add_rows_to_sums_kernel(Index rows, Index columns, const float* x, Index x_row, const float* weights,
                             float* sums) {
  const Floats d;
  for_vectors(columns, [&](Index at, std::size_t present) HWY_ATTR {
    Vector sum = hn::Zero(d);
    for (Index r = 0; r < rows; ++r) {
      const Vector row = load_some(d, x + r * x_row + at, present);
      sum = weights != nullptr ? hn::MulAdd(hn::Set(d, weights[r]), row, sum) : hn::Add(row, sum);
    }
    store_some(hn::Add(load_some(d, sums + at, present), sum), d, sums + at, present);
  });
}

void row_sums_kernel(Index rows, Index columns, const float* x, Index x_row, float* sums) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    Vector sum = hn::Zero(d);
    for_vectors(columns, [&](Index at, std::size_t present)
                             HWY_ATTR { sum = hn::Add(sum, load_some(d, x + r * x_row + at, present)); });
    sums[r] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

// A division by one number, by its reciprocal where that is neither subnormal nor infinite.
class Divisor {
 public:
  explicit HWY_INLINE Divisor(float divisor)
      : divisor_(divisor), inverse_(divisor == 0 ? 0 : 1 / divisor), divides_(divisor != 0 && !has_inverse(divisor)) {}

  HWY_INLINE Vector of(Vector x) const {
    const Floats d;
    return HWY_UNLIKELY(divides_) ? hn::Div(x, hn::Set(d, divisor_)) : hn::Mul(x, hn::Set(d, inverse_));
  }

 private:
  static HWY_INLINE bool has_inverse(float x) { return std::abs(x) > 0x1p-120f && std::abs(x) < 0x1p120f; }

  float divisor_, inverse_;
  bool divides_;
};

void divide_rows_kernel(Index rows, Index columns, const float* x, Index x_row, const float* divisors, float* y,
                        Index y_row) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    const Divisor divisor(divisors[r]);
    for_vectors(columns, [&](Index at, std::size_t present) HWY_ATTR {
      store_some(divisor.of(load_some(d, x + r * x_row + at, present)), d, y + r * y_row + at, present);
    });
  }
}

void add_sums_to_rows_kernel(Index rows, Index columns, const float* sums, const float* weights, float* x,
                             Index x_row) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    const Vector weight = hn::Set(d, weights != nullptr ? weights[r] : 1);
    for_vectors(columns, [&](Index at, std::size_t present) HWY_ATTR {
      float* to = x + r * x_row + at;
      store_some(hn::MulAdd(weight, load_some(d, sums + at, present), load_some(d, to, present)), d, to, present);
    });
  }
}

void clear_row_ends_kernel(Index rows, Index columns, const Index* ends, const float* addends, float* x, Index x_row) {
  const Floats d;
  for (Index r = 0; r < rows; ++r) {
    const Vector addend = hn::Set(d, addends != nullptr ? addends[r] : 0);
    for_vectors(columns, [&](Index at, std::size_t present) HWY_ATTR {
      float* to = x + r * x_row + at;
      const Index seen = std::clamp<Index>(ends[r] - at, 0, kLanes);
      if (seen == kLanes && addends == nullptr) return;
      const Vector sum = hn::Add(load_some(d, to, present), addend);
      store_some(hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(seen)), sum), d, to, present);
    });
  }
}

bool all_finite_kernel(Index count, const float* x) {
  const Floats d;
  const hn::RebindToSigned<Floats> bits;
  auto largest = hn::Zero(bits);
  for_vectors(count, [&](Index at, std::size_t present) HWY_ATTR {
    largest = hn::Max(largest, hn::BitCast(bits, hn::Abs(load_some(d, x + at, present))));
  });
  return hn::AllTrue(bits, hn::Lt(largest, hn::Set(bits, 0x7F800000)));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(add_rows_to_sums_kernel);
HEED_EXPORT(row_sums_kernel);
HEED_EXPORT(divide_rows_kernel);
HEED_EXPORT(add_sums_to_rows_kernel);
HEED_EXPORT(clear_row_ends_kernel);
HEED_EXPORT(all_finite_kernel);

void add_rows_to_sums(Index rows, Index columns, const float* x, Index x_row, const float* weights, float* sums) {
  HEED_DISPATCH(add_rows_to_sums_kernel)(rows, columns, x, x_row, weights, sums);
}

void row_sums(Index rows, Index columns, const float* x, Index x_row, float* sums) {
  HEED_DISPATCH(row_sums_kernel)(rows, columns, x, x_row, sums);
}

void divide_rows(Index rows, Index columns, const float* x, Index x_row, const float* divisors, float* y, Index y_row) {
  HEED_DISPATCH(divide_rows_kernel)(rows, columns, x, x_row, divisors, y, y_row);
}

void add_sums_to_rows(Index rows, Index columns, const float* sums, const float* weights, float* x, Index x_row) {
  HEED_DISPATCH(add_sums_to_rows_kernel)(rows, columns, sums, weights, x, x_row);
}

void clear_row_ends(Index rows, Index columns, const Index* ends, const float* addends, float* x, Index x_row) {
  HEED_DISPATCH(clear_row_ends_kernel)(rows, columns, ends, addends, x, x_row);
}

bool all_finite(Index count, const float* x) { return HEED_DISPATCH(all_finite_kernel)(count, x); }

}  // namespace heed::kernels
#endif
