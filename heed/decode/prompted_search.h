// A search that begins behind a prompt that the model has to read first, such as the language and the task that a
// translation model with a source is asked for.
//
//   auto search = std::make_unique<BeamSearch>(options, special, prompt.back(), most);
//   searches.push_back(std::make_unique<PromptedSearch>(prompt, std::move(search)));
#pragma once

#include <memory>
#include <vector>

#include "heed/decode/search.h"

namespace heed {

// Reads prompt[0] to prompt[n - 2], a token a step, whatever the model says to that; then the other search goes on,
// which reads prompt[n - 1] first. Throws heed::Error for an empty prompt.
class PromptedSearch : public Search {
 public:
  PromptedSearch(std::vector<std::int32_t> prompt, std::unique_ptr<Search> search);

  std::vector<std::int32_t> next_tokens() const override;
  std::vector<Index> advance(const View& logits) override;
  std::vector<Hypothesis> take() override { return search_->take(); }

 private:
  std::vector<std::int32_t> prompt_;
  std::unique_ptr<Search> search_;
  std::size_t read_ = 0;  // tokens of the prompt
};

}  // namespace heed
