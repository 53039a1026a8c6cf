#include "heed/tasks/stop_texts.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/utf8.h"

namespace heed {

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  for (const std::string& text : texts_) {
    Index at = 0;
    HEED_CHECK(!text.empty(), "stop: a text that ends a continuation must not be empty");
    HEED_CHECK(valid_utf8(text, &at), "stop: byte {} is not valid UTF-8", at + 1);
  }
}

std::size_t StopTexts::find(std::string_view text, std::size_t from) const {
  std::size_t first = text.npos;
  for (const std::string& stop : texts_) first = std::min(first, text.find(stop, from));
  return first;
}

std::string_view StopTexts::before(std::string_view text, std::size_t from, bool ended) const {
  const std::size_t first = find(text, from);
  if (first != text.npos) return text.substr(0, first);
  std::size_t open = text.size();
  for (const std::string& stop : texts_) {
    const std::size_t longest = std::min(stop.size() - 1, text.size() - std::min(from, text.size()));
    for (std::size_t begin = text.size() - longest; !ended && begin < open; ++begin) {
      if (std::string_view(stop).starts_with(text.substr(begin))) open = begin;
    }
  }
  return text.substr(0, open);
}

}  // namespace heed
