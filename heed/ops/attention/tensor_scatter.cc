#include "heed/ops/attention/tensor_scatter.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/numbers.h"
#include "heed/tensor/operands.h"

namespace heed {
namespace {

Index start_of(const ConstView& start, Index b) { return start ? integer_at(start, {b}) : 0; }

void check(const ConstView& update, const ConstView& start, const View& cache, int axis, ScatterMode mode) {
  const int last = cache.rank - 1;
  HEED_CHECK(cache.rank == update.rank && axis >= 1 && axis <= last,
             "tensor_scatter: needs a cache and an update of one rank and an axis after the first, but got {}, {} and "
             "axis {}",
             describe(cache), describe(update), axis);
  Shape expected = cache.shape;
  expected[static_cast<std::size_t>(axis)] = update.shape[static_cast<std::size_t>(axis)];
  const Index longest = cache.shape[static_cast<std::size_t>(axis)];
  const Index rows = update.shape[static_cast<std::size_t>(axis)];
  HEED_CHECK(update.shape == expected && rows <= longest,
             "tensor_scatter: update must have the shape of the cache, {}, with no more rows along axis {}, but is {}",
             describe(cache), axis, describe(update));
  HEED_CHECK(!start || (start.rank == 1 && start.shape[0] == cache.shape[0] &&
                        (start.dtype == DType::i32 || start.dtype == DType::i64)),
             "tensor_scatter: start must be i32 or i64 [B = {}], but is {}", cache.shape[0], describe(start));
  for (Index b = 0; b < cache.shape[0]; ++b) {
    const Index first = start_of(start, b);
    HEED_CHECK(first >= 0 && (mode == ScatterMode::circular || first <= longest - rows),
               "tensor_scatter: {} rows from row {} of batch element {} do not fit a cache of {} rows", rows, first, b,
               longest);
  }
}

}  // namespace

void tensor_scatter(ConstView update, ConstView start, View cache, int axis, ScatterMode mode) {
  check_operands("tensor_scatter", {{"update", update}, {"start", start, kOptional}}, {{"cache", cache}});
  if (axis < 0) axis += cache.rank;
  check(update, start, cache, axis, mode);
  const int along = axis - 1;  // within one batch element
  const Index longest = cache.shape[static_cast<std::size_t>(axis)];
  const Index rows = update.shape[static_cast<std::size_t>(axis)];
  if (rows == 0) return;
  parallel_for(cache.shape[0], 1, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      const ConstView from = select(update, 0, b);
      const View to = select(cache, 0, b);
      const Index first = start_of(start, b) % longest;
      const Index before_the_end = std::min(rows, longest - first);
      copy(slice(from, along, 0, before_the_end), slice(to, along, first, first + before_the_end));
      copy(slice(from, along, before_the_end, rows), slice(to, along, 0, rows - before_the_end));
    }
  });
}

}  // namespace heed
