// Holds what heed computed against what a case states.
#pragma once

#include <string>

#include "array.h"

namespace heed::conformance {

// What differs between the two, on one line: the shape, the type or the element that is farthest beyond
// atol + rtol |expected| (numpy's assert_allclose; a NaN equals a NaN). Empty where they agree. `got` is rounded to the
// floating type of `expected` first; integers and booleans must be the same.
std::string difference(const Array& got, const Array& expected, double rtol, double atol);

}  // namespace heed::conformance
