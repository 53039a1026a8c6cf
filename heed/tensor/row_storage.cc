#include "heed/tensor/row_storage.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed {

bool is_floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16 || dtype == DType::f16;
}

bool has_unit_rows(const ConstView& view) {
  return view.rank >= 1 && (view.stride[view.rank - 1] == 1 || view.shape[view.rank - 1] <= 1);
}

template <typename C>
void load_row(const ConstView& from, Index offset, Index count, C* to) {
  const auto convert = [&](const auto* row, const auto& as) { std::transform(row, row + count, to, as); };
  const auto number = [](auto x) { return static_cast<C>(x); };
  const auto half = [](auto x) { return static_cast<C>(to_float(x)); };
  switch (from.dtype) {
    case DType::f32:
      return convert(from.as<float>() + offset, number);
    case DType::f64:
      return convert(from.as<double>() + offset, number);
    case DType::bf16:
      return convert(from.as<BFloat16>() + offset, half);
    case DType::f16:
      return convert(from.as<Float16>() + offset, half);
    default:
      fail("load_row: needs a floating type, but got {}", name_of(from.dtype));
  }
}

template <typename C>
void store_row(const C* from, Index count, const View& to, Index offset) {
  switch (to.dtype) {
    case DType::f32:
      std::transform(from, from + count, to.as<float>() + offset, [](C x) { return static_cast<float>(x); });
      return;
    case DType::f64:
      std::transform(from, from + count, to.as<double>() + offset, [](C x) { return static_cast<double>(x); });
      return;
    case DType::bf16:
      std::transform(from, from + count, to.as<BFloat16>() + offset,
                     [](C x) { return to_bfloat16(static_cast<float>(x)); });
      return;
    case DType::f16:
      std::transform(from, from + count, to.as<Float16>() + offset,
                     [](C x) { return to_float16(static_cast<float>(x)); });
      return;
    default:
      fail("store_row: needs a floating type, but got {}", name_of(to.dtype));
  }
}

template void load_row(const ConstView&, Index, Index, float*);
template void load_row(const ConstView&, Index, Index, double*);
template void store_row(const float*, Index, const View&, Index);
template void store_row(const double*, Index, const View&, Index);

}  // namespace heed
