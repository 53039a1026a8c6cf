// Text by chance: a sequence goes on with tokens that are drawn from the model's distribution.
//
//   auto drawn = sample(model, sources, {.temperature = 0.8, .top_p = 0.95}, special, /*max_tokens=*/100, workspace);
//   drawn[0][0].tokens;
#pragma once

#include <vector>

#include "heed/decode/sampling.h"
#include "heed/decode/session.h"

namespace heed {

// One sequence, drawn by sample_token until an end token comes, which it does not before options.min_tokens, or there
// are max_tokens, of which special.last is the last. pad, begin and unknown are never produced; special.first and
// special.last are not drawn. Gives one hypothesis: its score is sum(log p), with p those of the model, before what the
// options make of them, and 1 for what is not drawn; of a sequence that was cut off, no end token is counted.
class Sampler : public Search {
 public:
  // `written` is what the model continues: {begin}, or a prompt. The first step reads its last token, and all of it
  // counts for the repetition penalty. `sequence` is Draw::sequence, and positions count from 0: what is drawn does not
  // depend on anything else. Throws heed::Error where `written` is empty and for max_tokens below 1.
  Sampler(const SamplingOptions& options, const SpecialTokens& special, std::vector<std::int32_t> written,
          Index sequence, Index max_tokens);

  std::vector<std::int32_t> next_tokens() const override { return {so_far_.back()}; }
  std::vector<Index> advance(const View& logits) override;
  std::vector<Hypothesis> take() override { return {std::move(drawn_)}; }
  // What has been drawn so far.
  const Hypothesis& drawn() const { return drawn_; }

 private:
  // What is not drawn but put next; -1: nothing.
  std::int32_t token_put() const;
  std::int32_t next_token(const View& logits) const;

  SamplingOptions options_;
  SpecialTokens special_;
  std::vector<std::int32_t> so_far_;  // written and drawn
  Index sequence_, max_tokens_;
  Hypothesis drawn_;
};

// Draws one continuation of each sequence, from the begin token on: sequence i has the draws of Draw::sequence i, so
// its result has the same bits whatever the others are. Throws heed::Error for options out of range, and where a
// model's logits are all NaN.
std::vector<std::vector<Hypothesis>> sample(const NextToken& model, const TokenBatch& sequences,
                                            const SamplingOptions& options, const SpecialTokens& special,
                                            Index max_tokens, Workspace& workspace);

}  // namespace heed
