#include "heed/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/ops/softmax.h"

namespace heed {
namespace {

// A hypothesis that has not ended. Its row in the decoder's state is its place in the list of all beams.
struct Beam {
  std::vector<std::int32_t> tokens;
  std::vector<double> token_scores;
  double sum = 0;
};

// One way to go on: a beam of the sentence, a token, and the sum of log-probabilities with it.
struct Candidate {
  double sum;
  Index beam;
  std::int32_t token;
  double token_score;
};

struct Sentence {
  Index index;       // in the batch
  Index max_length;  // tokens, without the end token
  std::vector<Beam> beams;
  std::vector<Hypothesis> finished;
};

bool better(const Candidate& a, const Candidate& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
}

class Search {
 public:
  Search(const BeamOptions& options, const SpecialTokens& special) : options_(options), special_(special) {}

  // Moves one sentence on by one token, given the log-probabilities of its beams' rows. Returns for each new beam the
  // old beam that it continues.
  std::vector<Index> advance(Sentence& sentence, const float* log_probs, Index vocabulary) const {
    const std::vector<Candidate> candidates = best_candidates(sentence, log_probs, vocabulary);
    std::vector<Beam> next;
    std::vector<Index> parents;
    for (std::size_t rank = 0; rank < candidates.size() && static_cast<Index>(next.size()) < options_.beam; ++rank) {
      const Candidate& c = candidates[rank];
      Beam beam = sentence.beams[c.beam];
      beam.sum = c.sum;
      beam.token_scores.push_back(c.token_score);
      if (c.token == special_.end) {
        // An end token below the best `beam` candidates would only have ended because better ones could not.
        if (static_cast<Index>(rank) < options_.beam) finish(sentence, std::move(beam));
      } else {
        beam.tokens.push_back(c.token);
        next.push_back(std::move(beam));
        parents.push_back(c.beam);
      }
    }
    sentence.beams = std::move(next);
    if (static_cast<Index>(sentence.finished.size()) >= options_.beam) sentence.beams.clear(), parents.clear();
    return parents;
  }

 private:
  // The best 2 * beam candidates, best first: however many of them end, `beam` can go on.
  std::vector<Candidate> best_candidates(const Sentence& sentence, const float* log_probs, Index vocabulary) const {
    const std::size_t wanted = static_cast<std::size_t>(2 * options_.beam);
    std::vector<Candidate> best;
    const auto offer = [&](const Candidate& c) {
      if (std::isnan(c.sum)) return;
      if (best.size() == wanted && !better(c, best.back())) return;
      if (best.size() == wanted) best.pop_back();
      best.insert(std::upper_bound(best.begin(), best.end(), c, better), c);
    };
    for (std::size_t b = 0; b < sentence.beams.size(); ++b) {
      const float* row = log_probs + static_cast<Index>(b) * vocabulary;
      const double sum = sentence.beams[b].sum;
      const Index beam = static_cast<Index>(b);
      if (static_cast<Index>(sentence.beams[b].tokens.size()) == sentence.max_length) {
        offer({sum + row[special_.end], beam, special_.end, row[special_.end]});
        continue;
      }
      for (Index token = 0; token < vocabulary; ++token) {
        // Most tokens are far below the worst kept candidate; a comparison is all that they cost.
        if (best.size() == wanted && sum + row[token] < best.back().sum) continue;
        const std::int32_t id = static_cast<std::int32_t>(token);
        if (id == special_.pad || id == special_.begin || id == special_.unknown) continue;
        offer({sum + row[token], beam, id, row[token]});
      }
    }
    HEED_CHECK(!best.empty(), "beam_search: every score of a sentence is NaN: the model's parameters are broken");
    return best;
  }

  void finish(Sentence& sentence, Beam beam) const {
    const double length = static_cast<double>(beam.tokens.size() + 1);
    sentence.finished.push_back(
        {std::move(beam.tokens), beam.sum / std::pow(length, options_.length_penalty), std::move(beam.token_scores)});
  }

  BeamOptions options_;
  SpecialTokens special_;
};

void check_options(const BeamOptions& options) {
  HEED_CHECK(options.beam >= 1 && options.beam <= kWidestBeam, "beam_search: beam must be from 1 to {}, but is {}",
             kWidestBeam, options.beam);
  HEED_CHECK(options.best >= 1 && options.best <= options.beam,
             "beam_search: best must be from 1 to the beam of {}, but is {}", options.beam, options.best);
  HEED_CHECK(std::isfinite(options.length_penalty), "beam_search: length_penalty must be finite, but is {}",
             options.length_penalty);
  HEED_CHECK(options.max_ratio >= 0 && options.max_extra >= 0 && std::isfinite(options.max_ratio),
             "beam_search: max_ratio and max_extra must not be negative, but are {} and {}", options.max_ratio,
             options.max_extra);
}

std::vector<Sentence> begin_sentences(const TranslationModel& model, const TokenBatch& source,
                                      const BeamOptions& options) {
  std::vector<Sentence> sentences;
  for (Index i = 0; i < source.lengths.size(); ++i) {
    const double limit =
        options.max_ratio * source.lengths.data<std::int32_t>()[i] + static_cast<double>(options.max_extra);
    // The decoder reads begin and all tokens before it can be made to end.
    const Index max_length = static_cast<Index>(std::min(limit, static_cast<double>(model.max_length() - 1)));
    sentences.push_back({i, max_length, {Beam{}}, {}});
  }
  return sentences;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const TranslationModel& model, const TokenBatch& source,
                                                 const BeamOptions& options, const SpecialTokens& special,
                                                 Workspace& workspace) {
  check_options(options);
  std::vector<std::vector<Hypothesis>> results(static_cast<std::size_t>(source.lengths.size()));
  if (results.empty()) return results;
  const Context context = Context::inference(workspace);
  const std::unique_ptr<DecoderState> state = model.start(context, source);
  const Search search(options, special);
  std::vector<Sentence> active = begin_sentences(model, source, options);

  while (!active.empty()) {
    std::vector<std::int32_t> tokens;
    std::vector<Index> first_row;
    for (const Sentence& sentence : active) {
      first_row.push_back(static_cast<Index>(tokens.size()));
      for (const Beam& beam : sentence.beams)
        tokens.push_back(beam.tokens.empty() ? special.begin : beam.tokens.back());
    }
    const Tensor logits = model.step(context, *state, tokens);
    log_softmax(logits, logits);
    const Index vocabulary = logits.dim(1);

    std::vector<std::vector<Index>> parents(active.size());
    parallel_for(static_cast<Index>(active.size()), 1, [&](Index begin, Index end) {
      for (Index s = begin; s < end; ++s) {
        parents[s] = search.advance(active[s], logits.data<float>() + first_row[s] * vocabulary, vocabulary);
      }
    });

    std::vector<Sentence> remaining;
    std::vector<Index> rows;
    for (std::size_t s = 0; s < active.size(); ++s) {
      if (active[s].beams.empty()) {
        std::vector<Hypothesis>& finished = active[s].finished;
        std::stable_sort(finished.begin(), finished.end(),
                         [](const auto& a, const auto& b) { return a.score > b.score; });
        finished.resize(std::min<std::size_t>(finished.size(), static_cast<std::size_t>(options.best)));
        results[active[s].index] = std::move(finished);
        continue;
      }
      for (Index parent : parents[s]) rows.push_back(first_row[s] + parent);
      remaining.push_back(std::move(active[s]));
    }
    active = std::move(remaining);
    bool same_rows = rows.size() == tokens.size();
    for (std::size_t r = 0; same_rows && r < rows.size(); ++r) same_rows = rows[r] == static_cast<Index>(r);
    if (!same_rows && !active.empty()) state->select_rows(rows);
  }
  return results;
}

}  // namespace heed
