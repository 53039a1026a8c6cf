// One vector of a text, of those that a model gives of its tokens.
//
//   pool_rows(hidden.data<float>(), length, width, Pool::mean, vector);
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/base/index.h"

namespace heed {

enum class Pool {
  mean,       // of all its tokens, those that the vocabulary's template added too
  first,      // the first token's: BERT's [CLS]
  last,       // the last token's, which alone has seen all others in a language model
  max,        // the largest of each number
  mean_sqrt,  // the sum over the square root of their number
  weighted,   // the mean with the weights 1, 2, 3, ...: later tokens have seen more
};
// Those that may be asked for; the others are what the folders of some models say.
inline constexpr std::pair<std::string_view, Pool> kPoolNames[] = {
    {"mean", Pool::mean}, {"first", Pool::first}, {"last", Pool::last}};
inline std::span<const std::pair<std::string_view, Pool>> enum_names(Pool) { return kPoolNames; }

// Of rows [length, width], of which there is at least one, to a vector [width]. Sums are made in double.
void pool_rows(const float* rows, Index length, Index width, Pool pool, float* vector);

}  // namespace heed
