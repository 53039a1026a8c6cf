#include "heed/ops/attention/plans/float_rows.h"

#include <algorithm>

#include "heed/kernels/ask_ahead.h"
#include "heed/kernels/attention_rows.h"
#include "heed/kernels/narrow.h"
#include "heed/kernels/prefetch.h"
#include "heed/kernels/widen.h"
#include "heed/tensor/row_storage.h"

namespace heed {
namespace {

// `scale` counts where the numbers are i8.
void widen_row(const ConstView& view, Index offset, float scale, Index count, float* to) {
  if (view.dtype == DType::bf16) {
    kernels::widen(view.as<BFloat16>() + offset, count, to);
  } else if (view.dtype == DType::f16) {
    kernels::widen(view.as<Float16>() + offset, count, to);
  } else if (view.dtype == DType::i8) {
    kernels::widen(view.as<std::int8_t>() + offset, scale, count, to);
  } else {
    std::copy_n(view.as<float>() + offset, count, to);
  }
}

}  // namespace

bool lies_as_floats(const RowSource& source) { return source.view().dtype == DType::f32 && !source.paged(); }

FloatRows float_rows(const ConstView& view, Index place, Index count, float* scratch) {
  const Index width = view.shape[3], stride = view.stride[2];
  if (view.dtype == DType::f32) return {const_cast<float*>(view.as<float>()) + place, stride};
  for (Index r = 0; r < count; ++r) widen_row(view, place + r * stride, 1, width, scratch + r * width);
  return {scratch, width};
}

FloatRows float_rows(const ConstView& view, Index b, Index h, Range rows, float* scratch) {
  return float_rows(view, view.offset({b, h, rows.begin}), rows.size(), scratch);
}

FloatRows float_rows(const RowSource& source, Index b, Index g, Range keys, float* scratch) {
  const ConstView& view = source.view();
  const Index width = view.shape[3];
  float* to = scratch;
  for (Range rest = keys; !rest.empty();) {
    const RowSource::Run run = source.run(b, g, rest);
    if (run.stored && run.rows == keys.size() && view.dtype == DType::f32) {
      return {const_cast<float*>(view.as<float>()) + run.offset, run.stride};
    }
    for (Index row = 0; row < run.rows; ++row, to += width) {
      if (run.stored) {
        const float scale = run.scales != nullptr ? run.scales[row * run.scale_stride] : 1;
        widen_row(view, run.offset + row * run.stride, scale, width, to);
      } else {
        std::fill_n(to, width, 0.0f);
      }
    }
    rest.begin += run.rows;
  }
  return {scratch, width};
}

void store_rows(FloatRows from, Index count, const View& to, Index place) {
  const Index width = to.shape[3];
  for (Index r = 0; r < count; ++r) {
    const float* const row = from.data + r * from.row;
    const Index at = place + r * to.stride[2];
    if (to.dtype == DType::bf16) {
      kernels::narrow(row, width, to.as<BFloat16>() + at);
    } else if (to.dtype == DType::f16) {
      kernels::narrow(row, width, to.as<Float16>() + at);
    } else {
      store_row(row, width, to, at);
    }
  }
}

void store_rows(FloatRows from, const View& to, Index b, Index h, Range rows) {
  store_rows(from, rows.size(), to, to.offset({b, h, rows.begin}));
}

void ask_for_next(const RowsInTurn& turn, Index b, Index g, Range read, kernels::StoredRows& stored) {
  const auto address = [](const ConstView& view, Index offset) {
    return static_cast<const char*>(view.data) + offset * size_of(view.dtype);
  };
  const bool goes_on = read.end < turn.now.end;
  const RowSource& source = goes_on ? turn.rows : turn.other;
  if (const ConstView& view = source.view(); view && kernels::ask_ahead().by_address) {
    const Index width = view.shape[3], first = goes_on ? read.end : turn.then;
    const Range rows{first, std::min(first + read.size(), turn.end)};
    const RowSource::Run run = rows.empty() ? RowSource::Run{} : source.run(b, g, rows);
    if (run.stored && run.stride == width) {
      stored.next = address(view, run.offset), stored.next_bytes = run.rows * width * size_of(view.dtype);
      // Of rows that lie one after another the second half is asked for while the first is read: what comes earlier is
      // pushed out of the first cache before it is read. But of small blocks that would be late.
      if (stored.row == stored.width) {
        const Index bytes = stored.count * stored.row * size_of(stored.dtype);
        const Index ahead = std::min(bytes, std::max(bytes / 2, kernels::ask_ahead().bytes));
        stored.left_bytes = bytes - ahead, stored.next_bytes = std::min(stored.next_bytes, ahead);
      }
      return;
    }
  }
  if (read.end >= turn.end) return;  // a block may go on behind what is read of it
  const RowSource::Run run = turn.rows.run(b, g, {read.end, read.end + 1});  // where it begins
  if (run.stored) stored.next = address(turn.rows.view(), run.offset);
}

kernels::StoredRows stored_run(const RowsInTurn& turn, Index b, Index g, Range keys, float* scratch) {
  const RowSource& source = turn.rows;
  const ConstView& view = source.view();
  const RowSource::Run run = source.run(b, g, keys);
  kernels::StoredRows rows{.count = run.rows, .width = view.shape[3]};
  if (!run.stored) {
    const FloatRows wide = float_rows(source, b, g, {keys.begin, keys.begin + run.rows}, scratch);
    rows.data = wide.data, rows.row = wide.row;
    return rows;
  }
  rows.data = static_cast<const char*>(view.data) + run.offset * size_of(view.dtype), rows.dtype = view.dtype;
  rows.row = run.stride, rows.scales = run.scales, rows.scale_row = run.scale_stride;
  ask_for_next(turn, b, g, {keys.begin, keys.begin + run.rows}, rows);
  return rows;
}

void prefetch(const ConstView& view, Index b, Index h, Range rows) {
  if (view.stride[2] == view.shape[3]) return;
  const Index size = size_of(view.dtype);
  const char* first = static_cast<const char*>(view.data) + view.offset({b, h, rows.begin}) * size;
  kernels::prefetch_rows(first, view.stride[2] * size, rows.size(), view.shape[3] * size);
}

void prefetch(const RowSource& source, Index b, Index g, Range keys) {
  const ConstView& view = source.view();
  const Index size = size_of(view.dtype);
  while (!keys.empty()) {
    const RowSource::Run run = source.run(b, g, keys);
    const char* first = static_cast<const char*>(view.data) + run.offset * size;
    if (run.stored && run.stride != view.shape[3])
      kernels::prefetch_rows(first, run.stride * size, run.rows, view.shape[3] * size);
    keys.begin += run.rows;
  }
}

bool rows_have_nan(const ConstView& view, Index b, Index h, Range rows) {
  if (!view || rows.empty()) return false;
  const Index first = view.offset({b, h, rows.begin}), count = rows.size(), width = view.shape[3];
  const auto any = [&](const auto* x) { return kernels::attention_any_nan(count, width, x + first, view.stride[2]); };
  if (view.dtype == DType::bf16) return any(view.as<BFloat16>());
  if (view.dtype == DType::f16) return any(view.as<Float16>());
  return any(view.as<float>());
}

}  // namespace heed
