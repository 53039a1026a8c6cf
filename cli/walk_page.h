// What the page of worked examples opens with.
//
//   walk_address("luong")                          // "view=walk&walk.example=luong"
//   walk_address(problem)                          // "...&walk.numbers=Q:1,0;0,1|K:...": a reader's own rows
#pragma once

#include <string>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tasks/explain/attention_walk.h"

namespace heed::cli {

// The walk of an example that heed/viz/page/walks has.
std::string walk_address(std::string_view example);

// The walk of scaled dot-product attention over the problem's numbers, with its causal mask. Throws heed::Error for
// more than one head, and for more than 32 rows of 64 numbers: the page is for small ones.
std::string walk_address(const AttentionInputs& problem);

// The sinusoids of `length` positions and `width` dimensions.
std::string positions_address(Index length, Index width);

}  // namespace heed::cli
