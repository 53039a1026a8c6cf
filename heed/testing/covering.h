// Few of many combinations, so that a grid too large to run is still met at every value and at the pairs that matter.
//
//   for (const Combination& at : covering({2, 3, 10}, 3, [](const Combination& c) { return cost_of(c); })) {
//     run(dtypes[at[0]], kinds[at[1]], lengths[at[2]]);
//   }
#pragma once

#include <functional>
#include <vector>

#include "heed/base/index.h"

namespace heed::testing {

// An index into the values of each axis.
using Combination = std::vector<Index>;

// Returns combinations in which every value of every axis occurs, and every pair of values of two axes of which the
// shorter has at most `paired` values: all that some combination of finite cost holds. Greedy, and the same everywhere:
// each one adds as many new pairs and values as any can, and is the cheapest, then the first, of those that do.
std::vector<Combination> covering(const std::vector<Index>& extents, Index paired,
                                  const std::function<double(const Combination&)>& cost);

}  // namespace heed::testing
