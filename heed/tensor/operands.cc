#include "heed/tensor/operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/tensor/overlap.h"

namespace heed {
namespace {

// More bytes than an address space has: what is below can be multiplied by a few and added up.
constexpr Index kFarthest = Index{1} << 56;

bool is_well_formed(const ConstView& view) {
  if (view.rank < 0 || view.rank > kMaxRank) return false;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    if (axis < view.rank ? view.shape[axis] < 0 : view.shape[axis] != 1) return false;
  }
  return true;
}

// An extent of 0 counts as 1, since sizes are products of other extents too.
bool is_countable(const ConstView& view) {
  const Index size = size_of(view.dtype);
  Index count = 1, span = 1;
  bool overflow = false;
  for (int axis = 0; axis < view.rank; ++axis) {
    const Index extent = std::max<Index>(view.shape[axis], 1);
    Index reach = 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
    overflow |= __builtin_mul_overflow(view.stride[axis], extent - 1, &reach);
    overflow |= reach < 0 ? __builtin_sub_overflow(span, reach, &span) : __builtin_add_overflow(span, reach, &span);
  }
  return !overflow && count <= kFarthest / size && span <= kFarthest / size;
}

std::string extents_of(const ConstView& view) {
  return fmt::format("[{}]", fmt::join(view.shape.begin(), view.shape.begin() + view.rank, ", "));
}

void check_apart_or_same(std::string_view function, const Operand& written, const Operand& other) {
  if (!written.view || !other.view || same_elements(written.view, other.view)) return;
  HEED_CHECK(!overlap(written.view, other.view), "{}: {} overlaps a part of {}: {} and {}", function, written.name,
             other.name, describe(written.view), describe(other.view));
}

}  // namespace

void check_operand(std::string_view function, const Operand& operand) {
  const auto& [name, view, optional] = operand;
  HEED_CHECK(is_well_formed(view), "{}: {} is no view: its rank is {} and its extents are {}", function, name,
             view.rank, fmt::join(view.shape, ", "));
  HEED_CHECK(is_countable(view), "{}: {} is too large: {} of {} with strides {}", function, name, name_of(view.dtype),
             extents_of(view), fmt::join(view.stride.begin(), view.stride.begin() + view.rank, ", "));
  HEED_CHECK(view || optional || view.size() == 0, "{}: {} is an empty view of extents {}", function, name,
             extents_of(view));
}

void check_written(std::string_view function, const Operand& operand) {
  check_operand(function, operand);
  HEED_CHECK(!overlaps_itself(operand.view), "{}: elements of {} share memory, but it is written: {}", function,
             operand.name, describe(operand.view));
}

void check_apart(std::string_view function, const Operand& written, const Operand& other) {
  HEED_CHECK(!overlap(written.view, other.view), "{}: {} overlaps {}: {} and {}", function, written.name, other.name,
             describe(written.view), describe(other.view));
}

void check_operands(std::string_view function, OperandList read, OperandList written, OperandList replaced) {
  for (const Operand& operand : read) check_operand(function, operand);
  for (const Operand& operand : replaced) check_operand(function, operand);
  for (const Operand& operand : written) check_written(function, operand);
  for (const Operand* one = written.begin(); one != written.end(); ++one) {
    if (!one->view) continue;
    const Hull hull(one->view);
    const auto may_meet = [&](const Operand& other) { return other.view && !hull.apart(Hull(other.view)); };
    for (const Operand* before = written.begin(); before != one; ++before) {
      if (may_meet(*before)) check_apart(function, *one, *before);
    }
    for (const Operand& other : read) {
      if (may_meet(other)) check_apart(function, *one, other);
    }
    for (const Operand& other : replaced) {
      if (may_meet(other)) check_apart_or_same(function, *one, other);
    }
  }
}

}  // namespace heed
