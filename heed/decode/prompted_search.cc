#include "heed/decode/prompted_search.h"

#include <utility>

#include "heed/base/check.h"

namespace heed {

PromptedSearch::PromptedSearch(std::vector<std::int32_t> prompt, std::unique_ptr<Search> search)
    : prompt_(std::move(prompt)), search_(std::move(search)) {
  HEED_CHECK(!prompt_.empty(), "PromptedSearch: the prompt is empty");
}

std::vector<std::int32_t> PromptedSearch::next_tokens() const {
  if (read_ + 1 < prompt_.size()) return {prompt_[read_]};
  return search_->next_tokens();
}

std::vector<Index> PromptedSearch::advance(const View& logits) {
  if (read_ + 1 < prompt_.size()) {
    ++read_;
    return {0};
  }
  return search_->advance(logits);
}

}  // namespace heed
