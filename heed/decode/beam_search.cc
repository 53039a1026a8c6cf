#include "heed/decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>

#include "heed/base/check.h"
#include "heed/decode/repeated_ngrams.h"
#include "heed/io/fields.h"
#include "heed/ops/softmax.h"

namespace heed {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float& score_of(const View& scores, Index beam, std::int32_t token) {
  HEED_CHECK(token >= 0 && token < scores.shape[1], "beam_search: token {} is none of the model's {}", token,
             scores.shape[1]);
  return scores.at<float>({beam, token});
}

void check_options(const BeamOptions& options) {
  check_ranges(options, "beam_search");
  HEED_CHECK(options.best <= options.beam, "beam_search: best must be at most the beam of {}, but is {}", options.beam,
             options.best);
}

}  // namespace

BeamSearch::BeamSearch(const BeamOptions& options, const SpecialTokens& special, std::int32_t first, Index max_tokens)
    : options_(options), special_(special), first_(first), max_tokens_(max_tokens), written_{first} {
  check_options(options);
  HEED_CHECK(!options.complete || special.last >= 0 || !special.ends.empty(),
             "beam_search: a search for whole sequences needs an end token");
}

std::vector<std::int32_t> BeamSearch::all_tokens(Index beam) const {
  std::vector<std::int32_t> all = written_;
  all.insert(all.end(), beams_[beam].tokens.begin(), beams_[beam].tokens.end());
  return all;
}

void BeamSearch::penalise_repetition(const View& scores) const {
  if (options_.repetition_penalty == 1) return;
  for (Index beam = 0; beam < std::ssize(beams_); ++beam) {
    const std::vector<std::int32_t> all = all_tokens(beam);
    for (const std::int32_t token : std::set<std::int32_t>(all.begin(), all.end())) {
      float& score = score_of(scores, beam, token);
      const double penalised = score > 0 ? score / options_.repetition_penalty : score * options_.repetition_penalty;
      score = static_cast<float>(penalised);
    }
  }
}

void BeamSearch::bar(const View& log_probs) const {
  for (Index beam = 0; beam < std::ssize(beams_); ++beam) {
    const auto bar_token = [&](std::int32_t token) {
      if (token >= 0 && token < log_probs.shape[1]) log_probs.at<float>({beam, token}) = -kInfinity;
    };
    const std::vector<std::int32_t>& tokens = beams_[beam].tokens;
    if (options_.no_repeat_ngram > 0) {
      std::ranges::for_each(repeated_ngram_ends(all_tokens(beam), options_.no_repeat_ngram), bar_token);
    }
    std::ranges::for_each(special_.never, bar_token);
    if (std::ssize(tokens) < options_.min_tokens) std::ranges::for_each(special_.ends, bar_token);
    if (special_.is_first(written_.size(), tokens.size())) std::ranges::for_each(special_.never_first, bar_token);
  }
}

void BeamSearch::record(std::vector<SearchStep>* steps, Index likeliest) { steps_ = steps, likeliest_ = likeliest; }

std::vector<std::int32_t> BeamSearch::next_tokens() const {
  std::vector<std::int32_t> tokens;
  for (const Beam& beam : beams_) tokens.push_back(beam.tokens.empty() ? first_ : beam.tokens.back());
  return tokens;
}

std::vector<Index> BeamSearch::advance(const View& logits) {
  const bool is_greedy = options_.beam == 1;
  if (is_greedy) penalise_repetition(logits);
  log_softmax(logits, logits);
  if (!is_greedy) penalise_repetition(logits);
  bar(logits);
  if (options_.renormalize) log_softmax(logits, logits);
  const std::vector<Candidate> candidates = best_candidates(logits);
  std::vector<Beam> next;
  std::vector<Index> parents, kept_of_next;
  std::vector<std::vector<SearchStep::Likely>> likeliest;
  SearchStep step;
  if (steps_ != nullptr) likeliest = likeliest_tokens(logits);
  const auto keep = [&](const Candidate& c) {
    const auto beam = static_cast<std::size_t>(c.beam);
    if (steps_ != nullptr) step.kept.push_back({kept_of_beam_[beam], c.token, c.token_score, c.sum, likeliest[beam]});
  };
  for (std::size_t rank = 0; rank < candidates.size() && std::ssize(next) < options_.beam; ++rank) {
    const Candidate& c = candidates[rank];
    Beam beam = beams_[c.beam];
    beam.sum = c.sum;
    beam.token_scores.push_back(c.token_score);
    const bool is_last = std::ssize(beam.tokens) == max_tokens_;  // whichever it is, nothing follows
    if (is_last || special_.is_end(c.token)) {
      // An end token below the best `beam` candidates would only have ended because better ones could not.
      if (static_cast<Index>(rank) >= options_.beam) continue;
      finish(std::move(beam), c.token);
      keep(c);
    } else {
      beam.tokens.push_back(c.token);
      kept_of_next.push_back(std::ssize(step.kept));
      keep(c);
      next.push_back(std::move(beam));
      parents.push_back(c.beam);
    }
  }
  beams_ = std::move(next);
  const bool is_longest = !beams_.empty() && std::ssize(beams_.front().tokens) == max_tokens_;
  if (is_longest && !completes()) {
    for (Beam& beam : beams_) finish(std::move(beam), -1);
    beams_.clear();
  }
  if (is_done()) beams_.clear();
  if (beams_.empty()) parents.clear();
  if (steps_ != nullptr) steps_->push_back(std::move(step)), kept_of_beam_ = std::move(kept_of_next);
  return parents;
}

std::vector<std::vector<SearchStep::Likely>> BeamSearch::likeliest_tokens(const ConstView& log_probs) const {
  std::vector<std::vector<SearchStep::Likely>> of_beams;
  for (Index beam = 0; beam < std::ssize(beams_); ++beam) {
    const float* row = &log_probs.at<float>({beam, 0});
    std::vector<std::int32_t> tokens;
    for (std::int32_t token = 0; token < log_probs.shape[1]; ++token) {
      if (!special_.excludes(token) && !std::isnan(row[token])) tokens.push_back(token);
    }
    const auto wanted = std::min(tokens.size(), static_cast<std::size_t>(likeliest_));
    std::ranges::partial_sort(tokens, tokens.begin() + static_cast<std::ptrdiff_t>(wanted),
                              [row](auto a, auto b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    std::vector<SearchStep::Likely>& likely = of_beams.emplace_back();
    for (std::size_t i = 0; i < wanted; ++i) {
      likely.push_back({tokens[i], std::min(1.0, std::exp(static_cast<double>(row[tokens[i]])))});
    }
  }
  return of_beams;
}

double BeamSearch::longest() const { return static_cast<double>(max_tokens_ + (completes() ? 1 : 0)); }

bool BeamSearch::is_done() const {
  if (std::ssize(finished_) < options_.beam) return false;
  if (options_.early_stopping || beams_.empty()) return true;
  std::vector<double> scores;
  for (const Hypothesis& hypothesis : finished_) scores.push_back(hypothesis.score);
  std::ranges::nth_element(scores, scores.begin() + options_.beam - 1, std::greater<>());
  const Beam& best = beams_.front();
  const bool by_longest = options_.any_length && options_.length_penalty > 0;
  const double length = by_longest ? longest() : static_cast<double>(best.tokens.size());
  return scores[static_cast<std::size_t>(options_.beam) - 1] >= best.sum / std::pow(length, options_.length_penalty);
}

std::vector<Hypothesis> BeamSearch::take() {
  std::stable_sort(finished_.begin(), finished_.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  finished_.resize(std::min<std::size_t>(finished_.size(), static_cast<std::size_t>(options_.best)));
  return std::move(finished_);
}

bool BeamSearch::better(const Candidate& a, const Candidate& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.beam != b.beam ? a.beam < b.beam : a.token < b.token;
}

std::vector<BeamSearch::Candidate> BeamSearch::best_candidates(const ConstView& log_probs) const {
  const std::size_t ends = std::max<std::size_t>(special_.ends.size(), 1);
  const std::size_t wanted = (1 + ends) * static_cast<std::size_t>(options_.beam);
  const Index vocabulary = log_probs.shape[1];
  std::vector<Candidate> best;
  const auto offer = [&](const Candidate& c) {
    if (std::isnan(c.sum)) return;
    if (best.size() == wanted && !better(c, best.back())) return;
    if (best.size() == wanted) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), c, better), c);
  };
  for (Index beam = 0; beam < std::ssize(beams_); ++beam) {
    const float* row = &log_probs.at<float>({beam, 0});
    const double sum = beams_[beam].sum;
    if (std::ssize(beams_[beam].tokens) == max_tokens_) {
      const std::int32_t end = special_.last >= 0 ? special_.last : special_.ends.front();
      const double score = special_.last >= 0 ? 0 : row[end];
      offer({sum + score, beam, end, score});
      continue;
    }
    if (special_.puts_first(written_.size() + beams_[beam].tokens.size())) {
      offer({sum, beam, special_.first, 0});
      continue;
    }
    const bool too_short = std::ssize(beams_[beam].tokens) < options_.min_tokens;
    for (Index token = 0; token < vocabulary; ++token) {
      // Most tokens are far below the worst kept candidate; a comparison is all that they cost.
      if (best.size() == wanted && sum + row[token] < best.back().sum) continue;
      const std::int32_t id = static_cast<std::int32_t>(token);
      if (!special_.excludes(id) && !(too_short && special_.is_end(id)))
        offer({sum + row[token], beam, id, row[token]});
    }
  }
  HEED_CHECK(!best.empty(), "beam_search: every score of a sentence is NaN: the model's parameters are broken");
  // What cannot be goes on only where nothing else can.
  const auto impossible = [](const Candidate& c) { return c.sum == -std::numeric_limits<double>::infinity(); };
  if (!impossible(best.front())) std::erase_if(best, impossible);
  return best;
}

void BeamSearch::finish(Beam beam, std::int32_t end) {
  const double length = static_cast<double>(beam.token_scores.size());
  finished_.push_back({std::move(beam.tokens), beam.sum / std::pow(length, options_.length_penalty),
                       std::move(beam.token_scores), end});
}

namespace {

// The search for sequence `i` of the batch.
std::unique_ptr<BeamSearch> search_for(const NextToken& model, const TokenBatch& source, Index i,
                                       const BeamOptions& options, const SpecialTokens& special) {
  const bool has_length = source.signal.is_empty();  // how large a picture is says nothing of its caption
  const Index length = has_length ? source.lengths.data<std::int32_t>()[i] : 0;
  // The first token and all others are read before the sequence can be made to end.
  const double most = static_cast<double>(model.max_steps(length) - 1);
  const double limit = options.max_ratio * static_cast<double>(length) + static_cast<double>(options.max_extra);
  const auto tokens = static_cast<Index>(has_length ? std::min(limit, most) : most);
  return std::make_unique<BeamSearch>(options, special, special.begin, std::min(tokens, options.max_tokens));
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const NextToken& model, const TokenBatch& source,
                                                 const BeamOptions& options, const SpecialTokens& special,
                                                 Workspace& workspace) {
  check_options(options);
  Searches searches;
  for (Index i = 0; i < source.sequences(); ++i) {
    searches.push_back(search_for(model, source, i, options, special));
  }
  return decode(model, source, std::move(searches), workspace);
}

RecordedSearch record_beam_search(const NextToken& model, const TokenBatch& source, const BeamOptions& options,
                                  const SpecialTokens& special, Index likeliest, Workspace& workspace) {
  HEED_CHECK(source.lengths.size() == 1, "record_beam_search: must be given one sentence, but is given {}",
             source.lengths.size());
  RecordedSearch recorded;
  std::unique_ptr<BeamSearch> search = search_for(model, source, 0, options, special);
  search->record(&recorded.steps, likeliest);
  Searches searches;
  searches.push_back(std::move(search));
  recorded.best = std::move(decode(model, source, std::move(searches), workspace).front());
  return recorded;
}

}  // namespace heed
