#include "heed/decode/prompted_search.h"

#include <limits>

#include "heed/base/check.h"

namespace heed {

PromptedSearch::PromptedSearch(std::vector<std::int32_t> prompt, std::unique_ptr<Search> search,
                               std::vector<std::int32_t> not_first)
    : prompt_(std::move(prompt)), search_(std::move(search)), not_first_(std::move(not_first)) {
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
  if (read_ < prompt_.size()) {
    ++read_;
    for (std::int32_t token : not_first_) {
      HEED_CHECK(token >= 0 && token < logits.shape[1], "PromptedSearch: token {} is none of the model's {}", token,
                 logits.shape[1]);
      logits.at<float>({0, token}) = -std::numeric_limits<float>::infinity();
    }
  }
  return search_->advance(logits);
}

}  // namespace heed
