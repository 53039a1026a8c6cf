// Beam search; greedy decoding is a beam of one.
//
//   std::vector<std::vector<Hypothesis>> best = beam_search(model, source, {.beam = 5}, special, workspace);
#pragma once

#include <utility>
#include <vector>

#include "heed/decode/session.h"
#include "heed/io/number_range.h"

namespace heed {

inline constexpr Index kWidestBeam = 1000;
inline constexpr Index kAnyLength = 1 << 24;  // tokens: no model holds so many

struct BeamOptions {
  Index beam = 5;
  double length_penalty = 1;
  double repetition_penalty = 1;
  Index no_repeat_ngram = 0;
  Index best = 1;  // at most `beam`
  bool early_stopping = true;
  bool any_length = false;
  bool renormalize = false;
  bool complete = true;
  double max_ratio = 2;
  Index max_extra = 10;
  Index min_tokens = 0;
  Index max_tokens = kAnyLength;

  template <typename V>
  friend void visit_fields(BeamOptions& o, V&& visit) {
    visit("beam", o.beam, "Hypotheses that the search keeps for each sentence; 1 is greedy.",
          NumberRange::from(1, kWidestBeam));
    visit("length_penalty", o.length_penalty,
          "A finished hypothesis scores the sum of its log-probabilities divided by its length, the end token counted, "
          "to this power.");
    visit("repetition_penalty", o.repetition_penalty,
          "Above 1, tokens that came already are less likely: their log-probabilities are multiplied by this; with a "
          "beam of 1 negative logits are, and positive ones divided. 1: as the model has them.",
          NumberRange::above(0));
    visit("no_repeat_ngram", o.no_repeat_ngram, "No so many tokens in a row come twice; 0: they may.",
          NumberRange::at_least(0));
    visit("best", o.best, "Hypotheses returned for each sentence, at most as many as are kept.",
          NumberRange::from(1, kWidestBeam));
    visit("early_stopping", o.early_stopping,
          "The search stops when as many hypotheses as it keeps have ended; else when none that has not could still "
          "score higher than the worst of these by going on as it is.");
    visit("any_length", o.any_length,
          "Without early_stopping, what has not ended could score as if it went on to the most tokens.");
    visit("renormalize", o.renormalize,
          "The probabilities of the tokens that may come next add up to 1; else they stay as the model has them.");
    visit("complete", o.complete, "A hypothesis of the most tokens gets the end token; else it ends where it is.");
    visit("max_ratio", o.max_ratio,
          "A translation has at most so many tokens for each of its source (the end token counted), and max_extra "
          "more; and at most what the model can hold.",
          NumberRange::at_least(0));
    visit("max_extra", o.max_extra, "See max_ratio.", NumberRange::at_least(0));
    visit("min_tokens", o.min_tokens, "A translation of fewer tokens does not end, the end token not counted.",
          NumberRange::from(0, kAnyLength));
    visit("max_tokens", o.max_tokens, "Nor has it more than so many, whatever its source.",
          NumberRange::from(1, kAnyLength));
  }
};

// What a search kept at one step: how a translation grew.
struct SearchStep {
  struct Likely {
    std::int32_t token;
    double probability;
  };
  struct Kept {
    Index parent = -1;  // which of the kept of the step before goes on; -1 in the first step
    std::int32_t token = 0;
    double log_probability = 0, sum = 0;  // of the token, and of all so far
    std::vector<Likely> likeliest{};      // the tokens that may follow the parent, likeliest first
  };
  std::vector<Kept> kept{};  // best first, with those that ended here
};

// The search for one sequence. It stops when `beam` hypotheses have ended among its best (and, without early_stopping,
// the best other's sum(log p) / length^length_penalty is no better, at its length or, with any_length, at the longest
// where long ones score more), or at max_tokens, where the end token is forced, `last` as if it were certain, or
// hypotheses are taken as they are. Ties go to the earlier hypothesis and then the smaller id. A hypothesis' score is
// sum(log p) / length^length_penalty. A repetition_penalty multiplies the log-probability of each token that came,
// however often (Keskar et al. 2019, section 4.1, over log-probabilities, which stay as they are then); with a beam of
// one it changes the logits, as in sample_token. Then tokens that would end no_repeat_ngram tokens again get the
// probability 0 (repeated_ngram_ends), as those have that must not come now; with renormalize, others add up to 1.
class BeamSearch : public Search {
 public:
  // The first step reads `first`: the begin token, or the last of a prompt. Throws heed::Error for options out of
  // range, and where there is no end token.
  BeamSearch(const BeamOptions& options, const SpecialTokens& special, std::int32_t first, Index max_tokens);

  // The tokens that the model continues, in place of `first` alone: they came already.
  void continues(std::vector<std::int32_t> written) { written_ = std::move(written); }
  // Adds each step from now on to `steps`, which must outlive the search, with so many of the likeliest tokens.
  void record(std::vector<SearchStep>* steps, Index likeliest);

  std::vector<std::int32_t> next_tokens() const override;
  // Throws heed::Error where a model's scores are all NaN.
  std::vector<Index> advance(const View& logits) override;
  std::vector<Hypothesis> take() override;

 private:
  // A hypothesis that has not ended.
  struct Beam {
    std::vector<std::int32_t> tokens;
    std::vector<double> token_scores;
    double sum = 0;
  };
  // One way to go on: a beam, a token, and the sum of log-probabilities with it.
  struct Candidate {
    double sum;
    Index beam;
    std::int32_t token;
    double token_score;
  };
  static bool better(const Candidate& a, const Candidate& b);
  // What a beam continues and has written itself.
  std::vector<std::int32_t> all_tokens(Index beam) const;
  // Of logits, or of log-probabilities.
  void penalise_repetition(const View& scores) const;
  // What must not come now gets -infinity.
  void bar(const View& log_probs) const;
  // How long a hypothesis is that gets all that there is room for, its end token counted.
  double longest() const;
  // Whether a hypothesis of the most tokens gets an end token.
  bool completes() const { return options_.complete || special_.last >= 0; }
  // So many of the best candidates, best first, that `beam` can go on, however many of them end.
  std::vector<Candidate> best_candidates(const ConstView& log_probs) const;
  // The likeliest tokens that may follow each beam.
  std::vector<std::vector<SearchStep::Likely>> likeliest_tokens(const ConstView& log_probs) const;
  // `end`: its end token, -1 for one that is cut off.
  void finish(Beam beam, std::int32_t end);
  bool is_done() const;

  BeamOptions options_;
  SpecialTokens special_;
  std::int32_t first_;
  Index max_tokens_;  // without the end token
  std::vector<Beam> beams_{Beam{}};
  std::vector<Hypothesis> finished_;
  std::vector<std::int32_t> written_;
  std::vector<SearchStep>* steps_ = nullptr;
  Index likeliest_ = 0;
  std::vector<Index> kept_of_beam_{-1};  // where each of beams_ is in the last of *steps_
};

// Translates each sentence of `source` (inference: no gradient, no dropout) by a BeamSearch. Returns, for each, its
// best hypotheses, best first. A sentence's result has the same bits in any batch. Throws heed::Error for options out
// of range, and where a model's scores are all NaN.
std::vector<std::vector<Hypothesis>> beam_search(const NextToken& model, const TokenBatch& source,
                                                 const BeamOptions& options, const SpecialTokens& special,
                                                 Workspace& workspace);

// The same of one sentence, whose steps are recorded, each with so many of the likeliest tokens.
struct RecordedSearch {
  std::vector<Hypothesis> best;
  std::vector<SearchStep> steps;
};
RecordedSearch record_beam_search(const NextToken& model, const TokenBatch& source, const BeamOptions& options,
                                  const SpecialTokens& special, Index likeliest, Workspace& workspace);

}  // namespace heed
