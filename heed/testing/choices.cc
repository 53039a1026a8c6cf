#include "heed/testing/choices.h"

namespace heed::testing {

Index Choices::below(Index bound) {
  if (endless_) return rng_.below(bound);
  Index value = 0;
  for (Index reach = 1; reach < bound && !bytes_.empty(); reach *= 256) {
    value = value * 256 + bytes_.front();
    bytes_ = bytes_.subspan(1);
  }
  return value % bound;
}

}  // namespace heed::testing
