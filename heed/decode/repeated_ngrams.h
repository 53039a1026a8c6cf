// Which tokens would write again what a text has already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// The tokens that `written` may not go on with so that no n tokens in a row come twice: those that followed its last
// n - 1 tokens wherever these came before (Paulus et al. 2017, section 2.5). A token may be there more than once. None
// where n is 0. Costs n comparisons for each token written.
std::vector<std::int32_t> repeated_ngram_ends(std::span<const std::int32_t> written, Index n);

}  // namespace heed
