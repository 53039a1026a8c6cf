#include "heed/ops/weight.h"

#include <fmt/format.h>

#include "heed/base/check.h"
#include "heed/kernels/widen.h"
#include "heed/kernels/widen_blocks.h"

namespace heed {
namespace {

bool is_scales(const ConstView& scales, Index outputs) {
  return (scales || outputs == 0) && scales.rank == 1 && scales.shape[0] == outputs && scales.dtype == DType::f32 &&
         scales.contiguous();
}

}  // namespace

Weight Weight::rows(Index begin, Index end) const {
  return {slice(values, 0, begin, end), scales ? slice(scales, 0, begin, end) : ConstView(), blocks};
}

std::string describe_weight(const Weight& weight) {
  if (weight.blocks != BlockType::none) {
    return fmt::format("{} [{}, {}]{}", name_of(weight.blocks), weight.outputs(), weight.inputs(),
                       weight.scales ? " with scales " + describe(weight.scales) : "");
  }
  return describe(weight.values) + (weight.scales ? " with scales " + describe(weight.scales) : "");
}

void check_weight(std::string_view function, const Weight& weight) {
  if (weight.blocks != BlockType::none) {
    HEED_CHECK(
        weight.values.dtype == DType::i8 && weight.values.rank == 2 && weight.values.contiguous() && !weight.scales &&
            weight.values.shape[1] % layout_of(weight.blocks).bytes == 0,
        "{}: a weight of {} must be contiguous i8 [Out, bytes of whole blocks of {}] without scales, but is {}{}",
        function, name_of(weight.blocks), layout_of(weight.blocks).bytes, describe(weight.values),
        weight.scales ? " with scales " + describe(weight.scales) : "");
    return;
  }
  const bool scaled = weight.values.dtype == DType::i8;
  if (!is_narrow(weight.values.dtype)) {
    HEED_CHECK(!weight.scales, "{}: only an i8 weight has scales, but it is {}", function, describe_weight(weight));
    return;
  }
  HEED_CHECK(weight.values.rank == 2 && weight.values.contiguous() &&
                 (scaled ? is_scales(weight.scales, weight.outputs()) : weight.scales.empty()),
             "{}: a narrow weight must be a contiguous [Out, In], and have contiguous scales f32 [Out] where it is i8 "
             "alone, but is {}",
             function, describe_weight(weight));
}

void widen_rows(const Weight& weight, Index begin, Index end, float* to) {
  if (weight.blocks != BlockType::none) {
    const Index bytes = weight.values.shape[1], blocks = bytes / layout_of(weight.blocks).bytes;
    return kernels::widen(weight.blocks, weight.values.as<unsigned char>() + begin * bytes, (end - begin) * blocks, to);
  }
  const Index width = weight.inputs(), first = begin * width, count = (end - begin) * width;
  switch (weight.values.dtype) {
    case DType::bf16:
      return kernels::widen(weight.values.as<BFloat16>() + first, count, to);
    case DType::f16:
      return kernels::widen(weight.values.as<Float16>() + first, count, to);
    case DType::i8:
      for (Index i = begin; i < end; ++i, to += width) {
        kernels::widen(weight.values.as<std::int8_t>() + i * width, weight.scales.as<float>()[i], width, to);
      }
      return;
    default:
      fail("widen_rows: {} is not narrow", describe_weight(weight));
  }
}

}  // namespace heed
