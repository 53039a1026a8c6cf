// The operands of element-wise and row-wise operators: contiguous views read as [count, width].
#pragma once

#include <initializer_list>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// A view's last extent is the width; the product of the others is the count.
struct Rows {
  Index count;
  Index width;
  Index size() const { return count * width; }
};

Rows rows_of(const ConstView& view);

// Checks that the operands are contiguous views of one shape and one of the types f32 and f64, and returns their rows.
// Throws heed::Error naming `function` and the operands.
Rows check_rows(std::string_view function, std::initializer_list<ConstView> operands);

// Checks that `vector` is empty or a contiguous [width] view of `dtype`, such as a bias or a row statistic. Throws
// heed::Error naming `function` and `name`.
void check_vector(std::string_view function, std::string_view name, const ConstView& vector, DType dtype, Index width);

// How many elements a thread takes at a time: enough work to be worth handing out, in arrays of which a few fit in L2.
inline constexpr Index kElementsPerTask = 16384;

// How many columns of a matrix it sums up at a time.
inline constexpr Index kColumnsPerTask = 256;
// Rows that are summed up before their sum is added to the total: short sums round less.
inline constexpr Index kRowsPerSum = 64;

// Rows that make up kElementsPerTask.
inline Index rows_per_task(Index width) {
  return width >= kElementsPerTask ? 1 : kElementsPerTask / (width > 0 ? width : 1);
}

}  // namespace heed
