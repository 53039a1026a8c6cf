#include "heed/viz/head_choice.h"

#include <algorithm>
#include <numeric>

#include "heed/base/check.h"

namespace heed {

std::vector<Index> HeadChoice::of(Index count) const {
  if (chosen.empty()) {
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }
  for (auto at = chosen.begin(); at != chosen.end(); ++at) {
    HEED_CHECK(*at >= 0 && *at < count, "there is no head {}: the layer has {}, counted from 0", *at, count);
    HEED_CHECK(std::find(chosen.begin(), at, *at) == at, "head {} is named twice", *at);
  }
  return chosen;
}

}  // namespace heed
