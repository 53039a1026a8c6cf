#include "heed/decode/repeated_ngrams.h"

#include <algorithm>

namespace heed {

std::vector<std::int32_t> repeated_ngram_ends(std::span<const std::int32_t> written, Index n) {
  std::vector<std::int32_t> ends;
  if (n < 1 || n > std::ssize(written)) return ends;
  const auto before = static_cast<std::size_t>(n - 1);
  const auto last = written.last(before);
  for (std::size_t at = 0; at + before < written.size(); ++at) {
    if (std::ranges::equal(written.subspan(at, before), last)) ends.push_back(written[at + before]);
  }
  return ends;
}

}  // namespace heed
