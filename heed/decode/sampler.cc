#include "heed/decode/sampler.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/ops/softmax.h"

namespace heed {

Sampler::Sampler(const SamplingOptions& options, const SpecialTokens& special, std::vector<std::int32_t> written,
                 Index sequence, Index max_tokens)
    : options_(options), special_(special), so_far_(std::move(written)), sequence_(sequence), max_tokens_(max_tokens) {
  check_ranges(options, "Sampler");
  HEED_CHECK(!so_far_.empty(), "Sampler: there must be a token to start from");
  HEED_CHECK(max_tokens >= 1, "Sampler: max_tokens must be at least 1, but is {}", max_tokens);
}

std::int32_t Sampler::token_put() const {
  if (special_.last >= 0 && std::ssize(drawn_.tokens) + 1 == max_tokens_) return special_.last;
  return special_.puts_first(so_far_.size()) ? special_.first : -1;
}

std::int32_t Sampler::next_token(const View& logits) const {
  std::vector<float> allowed(logits.as<float>(), logits.as<float>() + logits.shape[1]);
  const auto bar = [&](std::int32_t token) {
    if (token >= 0 && token < logits.shape[1]) allowed[token] = -std::numeric_limits<float>::infinity();
  };
  std::ranges::for_each(special_.never, bar);
  if (std::ssize(drawn_.tokens) < options_.min_tokens) std::ranges::for_each(special_.ends, bar);
  const std::size_t drawn = drawn_.tokens.size();
  if (special_.is_first(so_far_.size() - drawn, drawn)) std::ranges::for_each(special_.never_first, bar);
  const std::size_t known = std::min(allowed.size(), static_cast<std::size_t>(special_.beyond));
  std::fill(allowed.begin() + static_cast<std::ptrdiff_t>(known), allowed.end(),
            -std::numeric_limits<float>::infinity());
  return sample_token(allowed, so_far_, options_, {sequence_, std::ssize(drawn_.tokens)});
}

std::vector<Index> Sampler::advance(const View& logits) {
  const std::int32_t put = token_put(), token = put >= 0 ? put : next_token(logits);
  HEED_CHECK(token < logits.shape[1], "Sampler: token {} is none of the model's {}", token, logits.shape[1]);
  log_softmax(logits, logits);
  const double log_probability = put >= 0 ? 0 : logits.at<float>({0, token});
  drawn_.score += log_probability;
  drawn_.token_scores.push_back(log_probability);
  if (special_.is_end(token)) {
    drawn_.end = token;
    return {};
  }
  drawn_.tokens.push_back(token);
  so_far_.push_back(token);
  return std::ssize(drawn_.tokens) < max_tokens_ ? std::vector<Index>{0} : std::vector<Index>{};
}

std::vector<std::vector<Hypothesis>> sample(const NextToken& model, const TokenBatch& sequences,
                                            const SamplingOptions& options, const SpecialTokens& special,
                                            Index max_tokens, Workspace& workspace) {
  Searches searches;
  for (Index i = 0; i < sequences.lengths.size(); ++i) {
    const Index steps = model.max_steps(sequences.lengths.data<std::int32_t>()[i]);
    searches.push_back(std::make_unique<Sampler>(options, special, std::vector<std::int32_t>{special.begin}, i,
                                                 std::min(max_tokens, steps)));
  }
  return decode(model, sequences, std::move(searches), workspace);
}

}  // namespace heed
