// Which heads of a layer are looked at, and whether together.
//
//   HeadChoice all_side_by_side{.mean = false}, two{.mean = false, .chosen = {1, 5}};
#pragma once

#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

struct HeadChoice {
  bool mean = true;             // of the heads; otherwise each by itself
  std::vector<Index> chosen{};  // counted from 0; empty: all

  // The heads, of a layer that has so many. Throws heed::Error for one that it does not have, and one named twice.
  std::vector<Index> of(Index count) const;
};

}  // namespace heed
