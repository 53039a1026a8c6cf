#include "heed/tensor/rows.h"

#include <string>

#include "heed/base/check.h"

namespace heed {
namespace {

std::string describe_all(std::initializer_list<ConstView> operands) {
  std::string text;
  for (const ConstView& operand : operands) {
    if (!text.empty()) text += ", ";
    text += operand.empty() ? "an empty view" : describe(operand);
  }
  return text;
}

}  // namespace

Rows rows_of(const ConstView& view) {
  const Index width = view.rank == 0 ? 1 : view.shape[view.rank - 1];
  Index count = 1;
  for (int axis = 0; axis + 1 < view.rank; ++axis) count *= view.shape[axis];
  return {count, width};
}

Rows check_rows(std::string_view function, std::initializer_list<ConstView> operands) {
  const ConstView& first = *operands.begin();
  for (const ConstView& operand : operands) {
    const bool floating = operand.dtype == DType::f32 || operand.dtype == DType::f64;
    HEED_CHECK(!operand.empty() && floating && operand.contiguous() && operand.dtype == first.dtype &&
                   operand.rank == first.rank && same_shape(operand, first),
               "{}: needs contiguous views of one shape, all f32 or all f64, but got {}", function,
               describe_all(operands));
  }
  return rows_of(first);
}

void check_vector(std::string_view function, std::string_view name, const ConstView& vector, DType dtype, Index width) {
  if (vector.empty()) return;
  HEED_CHECK(vector.rank == 1 && vector.shape[0] == width && vector.contiguous() && vector.dtype == dtype,
             "{}: {} must be a contiguous {} [{}], but is {}", function, name, name_of(dtype), width, describe(vector));
}

}  // namespace heed
