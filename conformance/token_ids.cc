#include "token_ids.h"

namespace heed::conformance {

std::vector<std::int32_t> token_ids(const Json& list) {
  std::vector<std::int32_t> ids;
  for (const Index id : list.integer_list(0, kLargestId)) ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

}  // namespace heed::conformance
