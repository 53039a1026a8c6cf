// What becomes of the matches at which a text is split.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "heed/io/json.h"

namespace heed {

enum class SplitBehaviour {
  removed,               // they go
  isolated,              // each is a part
  merged_with_previous,  // each belongs to the part before it
  merged_with_next,      // or behind it
  contiguous             // matches in a row are one part
};

// "Removed" and so on.
SplitBehaviour read_split_behaviour(const Json& json);

// A stretch of the text, between two matches or a match.
struct Stretch {
  std::size_t begin, end;
  bool is_match;
};

// Calls use(begin, end) for each part that is not empty. The stretches cover the text, in order.
void for_each_part(const std::vector<Stretch>& stretches, SplitBehaviour behaviour,
                   const std::function<void(std::size_t begin, std::size_t end)>& use);

}  // namespace heed
