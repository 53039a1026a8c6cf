// Drawing the next token from a model's logits: what keeps from repetition, temperature, top-k, top-p, min-p, and the
// draw.
//
//   SamplingOptions options{.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = 7};
//   std::int32_t next = sample_token(logits, so_far, options, {.sequence = 0, .position = std::ssize(so_far)});
#pragma once

#include <cstdint>
#include <span>

#include "heed/base/index.h"
#include "heed/io/number_range.h"

namespace heed {

struct SamplingOptions {
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  Index no_repeat_ngram = 0;
  Index min_tokens = 0;
  Index seed = 1;

  template <typename V>
  friend void visit_fields(SamplingOptions& o, V&& visit) {
    visit("temperature", o.temperature, "Logits are divided by this; 0 takes the likeliest token.",
          NumberRange::at_least(0));
    visit("top_k", o.top_k, "Only so many of the likeliest tokens are drawn from; 0: all.", NumberRange::at_least(0));
    visit("top_p", o.top_p, "Only the likeliest tokens that together reach this probability are drawn from; 1: all.",
          NumberRange::from(0, 1));
    visit("min_p", o.min_p,
          "Only tokens at least so likely, beside the likeliest, are drawn from: 0.1 is a tenth of its probability; 0: "
          "all.",
          NumberRange::from(0, 1));
    visit("repetition_penalty", o.repetition_penalty,
          "Above 1, tokens that came already are less likely; below 1, more; 1: as the model has them.",
          NumberRange::above(0));
    visit("no_repeat_ngram", o.no_repeat_ngram,
          "No so many tokens in a row come twice, those of the prompt counted; 0: they may.", NumberRange::at_least(0));
    visit("min_tokens", o.min_tokens, "Tokens of a continuation, at least, the end token not counted.",
          NumberRange::at_least(0));
    visit("seed", o.seed, "Seed of the draws.");
  }
};

// Which draw it is: a sequence draws once at each of its positions.
struct Draw {
  Index sequence = 0, position = 0;
};

// Draws a token, an index into `logits`. In this order:
//   1. the logit x of each token in so_far becomes x / penalty where it is positive, else x * penalty, however often
//      the token came (Keskar et al. 2019, section 4.1, with a product for negative logits, so that they fall too);
//   2. tokens that would end no_repeat_ngram tokens of so_far again go (repeated_ngram_ends);
//   3. p = softmax(x / temperature); temperature 0 ends here, with the largest logit;
//   4. the top_k largest stay (Fan et al. 2018);
//   5. of these, the fewest of the largest whose share reaches top_p stay, at least one (Holtzman et al. 2020);
//   6. of these, those whose p is at least min_p times the largest stay (Nguyen et al. 2024);
//   7. one of those that stay is drawn by their p.
// min_tokens is the Sampler's affair, which knows how many came.
// Of equal logits that of the smaller index counts as the larger. A logit of NaN or -infinity is never drawn; where
// some are +infinity, one of these is. A pure function of its arguments: the draw is that of (seed, sequence,
// position). Costs one pass over the logits, and as many steps of a heap as tokens reach top_p. Throws heed::Error for
// options out of range, where no logit can be drawn, and for a token of so_far that is no index.
std::int32_t sample_token(std::span<const float> logits, std::span<const std::int32_t> so_far,
                          const SamplingOptions& options, Draw draw);

}  // namespace heed
