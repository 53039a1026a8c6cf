// Holds what heed computed against what a case states.
#pragma once

#include <string>

#include "array.h"

namespace heed::conformance {

// What differs between the two, on one line: the shape, the type or the element that is farthest beyond
// atol + rtol |expected| (numpy's assert_allclose; a NaN equals a NaN). Empty where they agree. `got` is rounded to the
// floating type of `expected` first; integers and booleans must be the same.
std::string difference(const Array& got, const Array& expected, double rtol, double atol);

// What is wrong with numbers that rounded weights gave: a shape, a number that is not finite, or where the root mean
// square of the errors is more than `share` of that of the expected numbers about their mean. Empty where nothing is.
std::string inexact_difference(const Array& got, const Array& expected, double share);

}  // namespace heed::conformance
