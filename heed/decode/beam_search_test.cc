#include "heed/decode/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

constexpr std::int32_t kTokens = 7;  // 4, 5 and 6 are words

// A model whose next logits are a function of the sentence's first id and the tokens so far.
class TableModel : public NextToken {
 public:
  struct State : DecoderState {
    std::vector<std::vector<std::int32_t>> prefixes;
    void select_rows(std::span<const Index> rows) override {
      std::vector<std::vector<std::int32_t>> selected;
      for (Index row : rows) selected.push_back(prefixes[row]);
      prefixes = selected;
    }
  };

  Index vocabulary() const override { return kTokens; }
  Index max_length() const override { return 100; }
  Index max_steps(Index) const override { return 100; }

  std::unique_ptr<DecoderState> start(Precision) const override { return std::make_unique<State>(); }

  void admit(const Context&, DecoderState& state, const TokenBatch& sources) const override {
    for (Index b = 0; b < sources.ids.dim(0); ++b) {
      dynamic_cast<State&>(state).prefixes.push_back({sources.ids.at<std::int32_t>({b, 0})});
    }
  }

  Tensor step(const Context&, DecoderState& decoder_state, std::span<const std::int32_t> tokens) const override {
    State& state = dynamic_cast<State&>(decoder_state);
    const Tensor logits = Tensor::empty(DType::f32, {static_cast<Index>(tokens.size()), kTokens});
    for (std::size_t row = 0; row < tokens.size(); ++row) {
      state.prefixes[row].push_back(tokens[row]);
      const std::vector<float> values = logits_of(state.prefixes[row]);
      for (Index v = 0; v < kTokens; ++v) logits.at<float>({static_cast<Index>(row), v}) = values[v];
    }
    return logits;
  }

  std::vector<float> logits_of(const std::vector<std::int32_t>& prefix) const {
    std::uint64_t hash = 17;
    for (std::int32_t id : prefix) hash = hash * 1000003 + static_cast<std::uint64_t>(id);
    Rng rng(hash);
    std::vector<float> logits;
    for (std::int32_t v = 0; v < kTokens; ++v) logits.push_back(broken ? NAN : static_cast<float>(2 * rng.normal()));
    return logits;
  }

  bool broken = false;
};

TokenBatch sources(std::vector<std::int32_t> firsts, std::int32_t length) {
  const Index rows = static_cast<Index>(firsts.size());
  return {Tensor::from(firsts, {rows, 1}), Tensor::from(std::vector<std::int32_t>(firsts.size(), length), {rows})};
}

double log_probability(const std::vector<float>& logits, std::int32_t token) {
  double sum = 0;
  for (float l : logits) sum += std::exp(static_cast<double>(l));
  return logits[token] - std::log(sum);
}

// Every translation of at most `longest` words, with its score.
void enumerate(const TableModel& model, std::vector<std::int32_t>& prefix, double sum, Index longest, double penalty,
               Hypothesis& best) {
  const std::vector<float> logits = model.logits_of(prefix);
  const Index words = static_cast<Index>(prefix.size()) - 2;
  const double score = (sum + log_probability(logits, 3)) / std::pow(static_cast<double>(words + 1), penalty);
  if (best.token_scores.empty() || score > best.score) {
    best = {{prefix.begin() + 2, prefix.end()}, score, {0}};
  }
  if (words == longest) return;
  for (std::int32_t v = 4; v < kTokens; ++v) {
    prefix.push_back(v);
    enumerate(model, prefix, sum + log_probability(logits, v), longest, penalty, best);
    prefix.pop_back();
  }
}

TEST(BeamSearch, AWideBeamFindsTheBestOfAllTranslations) {
  const TableModel model;
  Workspace workspace;
  for (double penalty : {0.0, 0.6, 1.0}) {
    for (std::int32_t first : {4, 5, 6}) {
      Hypothesis best;
      std::vector<std::int32_t> prefix{first, 2};
      enumerate(model, prefix, 0, /*longest=*/4, penalty, best);
      // 3^4 prefixes at most: none is ever dropped.
      const auto found =
          beam_search(model, sources({first}, 4),
                      {.beam = 200, .length_penalty = penalty, .max_ratio = 1, .max_extra = 0}, {}, workspace);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0][0].tokens, best.tokens) << first << " " << penalty;
      EXPECT_NEAR(found[0][0].score, best.score, 1e-5);
    }
  }
}

TEST(BeamSearch, ABeamOfOneTakesTheBestTokenAtEachStep) {
  const TableModel model;
  Workspace workspace;
  const auto found = beam_search(model, sources({4}, 10), {.beam = 1}, {}, workspace);
  std::vector<std::int32_t> prefix{4, 2}, greedy;
  while (static_cast<Index>(greedy.size()) < 30) {
    const std::vector<float> logits = model.logits_of(prefix);
    std::int32_t best = 3;
    for (std::int32_t v = 4; v < kTokens; ++v) best = logits[v] > logits[best] ? v : best;
    if (best == 3) break;
    greedy.push_back(best);
    prefix.push_back(best);
  }
  EXPECT_EQ(found[0][0].tokens, greedy);
}

TEST(BeamSearch, ScoresAreTheSumOfTokenScoresAndHypothesesAreOrdered) {
  const TableModel model;
  Workspace workspace;
  const auto best = beam_search(model, sources({5}, 6), {.beam = 5, .length_penalty = 1, .best = 5}, {}, workspace)[0];
  for (const Hypothesis& h : best) {
    ASSERT_EQ(h.token_scores.size(), h.tokens.size() + 1);
    double sum = 0;
    for (double score : h.token_scores) sum += score;
    EXPECT_NEAR(h.score, sum / static_cast<double>(h.token_scores.size()), 1e-9);
  }
  for (std::size_t i = 1; i < best.size(); ++i) EXPECT_GE(best[i - 1].score, best[i].score);
}

TEST(BeamSearch, ASentenceDoesNotDependOnItsBatch) {
  const TableModel model;
  Workspace workspace;
  const auto together = beam_search(model, sources({4, 5, 6, 7, 8, 9}, 8), {.beam = 3, .best = 3}, {}, workspace);
  for (std::int32_t first = 4; first < 10; ++first) {
    const auto alone = beam_search(model, sources({first}, 8), {.beam = 3, .best = 3}, {}, workspace);
    ASSERT_EQ(alone[0].size(), together[first - 4].size());
    for (std::size_t i = 0; i < alone[0].size(); ++i) {
      EXPECT_EQ(alone[0][i].tokens, together[first - 4][i].tokens);
      EXPECT_EQ(alone[0][i].token_scores, together[first - 4][i].token_scores);
    }
  }
}

TEST(BeamSearch, EndsAtTheGreatestLength) {
  const TableModel model;
  Workspace workspace;
  for (const auto& best : beam_search(model, sources({4, 5, 6, 7}, 3),
                                      {.beam = 2, .best = 2, .max_ratio = 1, .max_extra = 0}, {}, workspace)) {
    ASSERT_FALSE(best.empty());
    for (const Hypothesis& h : best) EXPECT_LE(h.tokens.size(), 3u);
  }
}

TEST(BeamSearch, AHypothesisThatIsNotCompletedEndsWhereItIs) {
  TableModel model;
  Workspace workspace;
  SpecialTokens endless;
  endless.ends.clear();
  const BeamOptions options{.beam = 3, .best = 3, .complete = false, .max_ratio = 0, .max_extra = 4};
  const auto all = beam_search(model, sources({4}, 1), options, endless, workspace);
  EXPECT_EQ(all[0].size(), 3u);
  for (const Hypothesis& found : all[0]) {
    EXPECT_EQ(found.tokens.size(), 4u);
    EXPECT_EQ(found.token_scores.size(), 4u);
    EXPECT_DOUBLE_EQ(found.score, std::accumulate(found.token_scores.begin(), found.token_scores.end(), 0.0) / 4);
  }
  EXPECT_THROW(beam_search(model, sources({4}, 1), {}, endless, workspace), Error);
}

// Stopping early keeps what ended first; going on may only find better, and over many sentences does.
TEST(BeamSearch, WithoutEarlyStoppingNoHypothesisIsWorseAndSomeAreBetter) {
  TableModel model;
  Workspace workspace;
  int better = 0;
  for (std::int32_t first = 0; first < 200; ++first) {
    BeamOptions options{.beam = 2, .length_penalty = 1.5, .max_ratio = 0, .max_extra = 8};
    const double early = beam_search(model, sources({first}, 1), options, {}, workspace)[0][0].score;
    options.early_stopping = false;
    const double late = beam_search(model, sources({first}, 1), options, {}, workspace)[0][0].score;
    EXPECT_GE(late, early) << first;
    better += late > early;
  }
  EXPECT_GT(better, 0);
}

TEST(BeamSearch, RecordedStepsLeadToWhatIsFound) {
  const TableModel model;
  Workspace workspace;
  for (const Index beam : {1, 3}) {
    const BeamOptions options{.beam = beam, .max_ratio = 1, .max_extra = 2};
    const TokenBatch source = sources({5}, 4);
    const RecordedSearch recorded = record_beam_search(model, source, options, {}, 2, workspace);
    const Hypothesis found = beam_search(model, source, options, {}, workspace)[0][0];
    ASSERT_EQ(recorded.best.at(0).tokens, found.tokens);
    // Whatever ended is a path of the steps; one of them is the best.
    bool is_there = false;
    for (std::size_t last = 0; last < recorded.steps.size(); ++last) {
      const auto& ends = recorded.steps[last].kept;
      EXPECT_LE(std::ssize(ends), 2 * beam);
      for (std::size_t end = 0; end < ends.size(); ++end) {
        if (ends[end].token != 3) continue;
        std::vector<std::int32_t> tokens;
        double sum = 0;
        Index at = static_cast<Index>(end);
        for (std::size_t step = last + 1; step-- > 0;) {
          const SearchStep::Kept& kept = recorded.steps[step].kept.at(static_cast<std::size_t>(at));
          tokens.insert(tokens.begin(), kept.token);
          sum += kept.log_probability;
          at = kept.parent;
        }
        EXPECT_EQ(at, -1);
        EXPECT_NEAR(ends[end].sum, sum, 1e-9);
        tokens.pop_back();
        is_there = is_there || tokens == found.tokens;
      }
    }
    EXPECT_TRUE(is_there);
    const std::vector<float> logits = model.logits_of({5, 2});
    const auto& likeliest = recorded.steps[0].kept[0].likeliest;
    ASSERT_EQ(likeliest.size(), 2u);
    EXPECT_GE(likeliest[0].probability, likeliest[1].probability);
    EXPECT_NEAR(likeliest[0].probability, std::exp(log_probability(logits, likeliest[0].token)), 1e-6);
    EXPECT_EQ(likeliest[0].token, recorded.steps[0].kept[0].token);
  }
}

TEST(BeamSearch, RefusesBrokenScoresAndBadOptions) {
  TableModel model;
  Workspace workspace;
  EXPECT_THROW(beam_search(model, sources({4}, 3), {.beam = 0}, {}, workspace), Error);
  EXPECT_THROW(beam_search(model, sources({4}, 3), {.beam = 2, .best = 3}, {}, workspace), Error);
  EXPECT_THROW(beam_search(model, sources({4}, 3), {.no_repeat_ngram = -1}, {}, workspace), Error);
  EXPECT_THROW(beam_search(model, sources({4}, 3), {.max_tokens = 0}, {}, workspace), Error);
  model.broken = true;
  EXPECT_THROW(beam_search(model, sources({4}, 3), {}, {}, workspace), Error);
}

TEST(BeamSearch, AFirstTokenThatIsSaidIsCertain) {
  const TableModel model;
  Workspace workspace;
  for (std::int32_t first : {4, 5, 6}) {
    SpecialTokens special;
    special.first = first;
    const auto all = beam_search(model, sources({4}, 4), {.beam = 3, .best = 3}, special, workspace);
    for (const Hypothesis& found : all[0]) {
      ASSERT_FALSE(found.tokens.empty());
      EXPECT_EQ(found.tokens.front(), first);
      EXPECT_EQ(found.token_scores.front(), 0);
    }
  }
}

TEST(BeamSearch, ALastTokenThatIsSaidIsCertain) {
  const TableModel model;
  Workspace workspace;
  for (const std::int32_t last : {3, 6}) {
    SpecialTokens special;
    special.never = {0, 1, 2, 3};  // nothing ends before
    special.last = last;
    const BeamOptions options{.beam = 3, .best = 3, .complete = false, .max_tokens = 4};
    const auto all = beam_search(model, sources({4}, 4), options, special, workspace);
    ASSERT_FALSE(all[0].empty());
    for (const Hypothesis& found : all[0]) {
      EXPECT_EQ(found.tokens.size(), 4u);
      EXPECT_EQ(found.end, last);
      ASSERT_EQ(found.token_scores.size(), 5u);
      EXPECT_EQ(found.token_scores.back(), 0);
      EXPECT_DOUBLE_EQ(found.score, std::accumulate(found.token_scores.begin(), found.token_scores.end(), 0.0) / 5);
    }
  }
}

TEST(BeamSearch, NothingIsPutBehindAPrompt) {
  const TableModel model;
  const std::vector<float> logits = model.logits_of({4, 6});
  SpecialTokens special{.ends = {}, .first = 5};
  const auto first_of = [&](const std::vector<std::int32_t>& prompt) {
    BeamSearch search({.beam = 1, .complete = false}, special, prompt.back(), 1);
    search.continues(prompt);
    search.advance(Tensor::from(logits, {1, kTokens}).view());
    return search.take().front().tokens.front();
  };
  EXPECT_EQ(first_of({2}), 5);
  const auto best = std::max_element(logits.begin() + 3, logits.end()) - logits.begin();
  ASSERT_NE(best, 5) << "what would come anyway shows nothing";
  EXPECT_EQ(first_of({2, 6}), best);
  special.never_first = {static_cast<std::int32_t>(best)};
  EXPECT_NE(first_of({2, 6}), best);
}

TEST(BeamSearch, ProbabilitiesOfWhatMayComeAddUpToOneWhereTheyAreRenormalised) {
  const TableModel model;
  Workspace workspace;
  const auto all =
      beam_search(model, sources({4}, 1), {.beam = 4, .best = 4, .renormalize = true, .max_tokens = 1}, {}, workspace);
  double sum = 0;
  std::set<std::int32_t> firsts;
  for (const Hypothesis& found : all[0]) {
    const std::int32_t first = found.tokens.empty() ? found.end : found.tokens[0];
    if (firsts.insert(first).second) sum += std::exp(found.token_scores[0]);
  }
  EXPECT_EQ(firsts, (std::set<std::int32_t>{3, 4, 5, 6}));
  EXPECT_NEAR(sum, 1, 1e-6);
}

// By its present length what goes on cannot score higher; by a length that it may reach it can.
TEST(BeamSearch, WhatMayGrowToAnyLengthKeepsASearchGoing) {
  TableModel model;
  Workspace workspace;
  int better = 0;
  for (std::int32_t first = 0; first < 200; ++first) {
    BeamOptions options{.beam = 2, .length_penalty = 1.5, .early_stopping = false, .max_ratio = 0, .max_extra = 8};
    const double now = beam_search(model, sources({first}, 1), options, {}, workspace)[0][0].score;
    options.any_length = true;
    const double later = beam_search(model, sources({first}, 1), options, {}, workspace)[0][0].score;
    EXPECT_GE(later, now) << first;
    better += later > now;
  }
  EXPECT_GT(better, 0);
}

// However many of the best tokens end a sequence, as many hypotheses as the search keeps go on.
TEST(BeamSearch, SeveralEndTokensLeaveRoomForThoseThatGoOn) {
  const TableModel model;
  Workspace workspace;
  SpecialTokens special;
  special.ends = {3, 4, 5};
  std::set<std::int32_t> ends;
  for (std::int32_t first = 0; first < 20; ++first) {
    RecordedSearch recorded = record_beam_search(model, sources({first}, 1), {.beam = 1}, special, 1, workspace);
    const auto& kept = recorded.steps[0].kept;
    EXPECT_EQ(std::ranges::count_if(kept, [](const auto& one) { return one.token == 6; }), 1) << "the only other token";
    for (const Hypothesis& found : recorded.best) {
      EXPECT_TRUE(special.is_end(found.end));
      ends.insert(found.end);
    }
  }
  EXPECT_EQ(ends, (std::set<std::int32_t>{3, 4, 5}));
}

// What came already is multiplied, once: in the log-probabilities, which stay as they are then, or, with a beam of one,
// in the logits, of which positive ones are divided.
TEST(BeamSearch, ARepetitionIsPenalised) {
  constexpr double kPenalty = 3;
  const TableModel model;
  SpecialTokens endless;
  endless.ends.clear();
  for (const Index beam : {1, 2}) {
    const BeamOptions options{.beam = beam, .repetition_penalty = kPenalty, .complete = false};
    BeamSearch search(options, endless, /*first=*/4, /*max_tokens=*/1);
    search.continues({5, 4, 4});
    const std::vector<float> values = model.logits_of({4});
    std::vector<float> penalised = values;
    std::pair<double, std::int32_t> best{-1e9, 0};
    for (std::int32_t v : {4, 5}) penalised[v] *= penalised[v] > 0 ? 1 / static_cast<float>(kPenalty) : kPenalty;
    for (std::int32_t v = 3; v < kTokens; ++v) {  // 3 is a word where nothing ends
      const double of_wide = log_probability(values, v) * (v == 4 || v == 5 ? kPenalty : 1);
      best = std::max(best, {beam == 1 ? log_probability(penalised, v) : of_wide, v});
    }
    search.advance(Tensor::from(values, {1, kTokens}).view());
    const Hypothesis found = search.take().front();
    EXPECT_EQ(found.tokens, std::vector<std::int32_t>{best.second});
    EXPECT_NEAR(found.score, best.first, 1e-5);
    EXPECT_EQ(found.end, -1);
  }
  EXPECT_THROW(BeamSearch({.beam = 1, .repetition_penalty = 0, .complete = false}, endless, 4, 3), Error);
}

// Of what a hypothesis continues and has written, also where all else is less likely.
TEST(BeamSearch, NoTokensInARowComeTwiceWhereTheyMustNot) {
  const TableModel model;
  SpecialTokens endless;
  endless.ends.clear();
  for (const Index n : {1, 2, 3}) {
    BeamSearch search({.beam = 2, .no_repeat_ngram = n, .best = 2, .complete = false}, endless, /*first=*/4, 12);
    search.continues({6, 4});
    std::vector<std::vector<std::int32_t>> read{{6, 4}};
    const Index longest = n == 1 ? 2 : 9;  // where none may come twice, 3 and 5 are left
    for (Index step = 0; step < longest; ++step) {
      Tensor logits = Tensor::empty(DType::f32, {static_cast<Index>(read.size()), kTokens});
      for (std::size_t row = 0; row < read.size(); ++row) {
        const std::vector<float> values = model.logits_of(read[row]);
        std::ranges::copy(values, &logits.at<float>({static_cast<Index>(row), 0}));
      }
      std::vector<std::vector<std::int32_t>> next;
      for (const Index row : search.advance(logits.view())) next.push_back(read[static_cast<std::size_t>(row)]);
      const std::vector<std::int32_t> tokens = search.next_tokens();
      for (std::size_t row = 0; row < next.size(); ++row) next[row].push_back(tokens[row]);
      if (!next.empty()) read = next;
    }
    for (const std::vector<std::int32_t>& all : read) {
      std::set<std::vector<std::int32_t>> rows;
      for (auto at = all.begin(); all.end() - at >= n; ++at) {
        EXPECT_TRUE(rows.insert({at, at + n}).second) << n << " tokens come again at " << at - all.begin();
      }
    }
  }
}

TEST(BeamSearch, IsAsLongAsItMustBeAndNoLonger) {
  const TableModel model;
  Workspace workspace;
  std::size_t shortest = 100, longest = 0;
  for (std::int32_t first = 0; first < 50; ++first) {
    const auto tokens = [&](const BeamOptions& options) {
      return beam_search(model, sources({first}, 8), options, {}, workspace)[0][0].tokens.size();
    };
    shortest = std::min(shortest, tokens({})), longest = std::max(longest, tokens({}));
    EXPECT_GE(tokens({.min_tokens = 5}), 5u);
    EXPECT_LE(tokens({.max_tokens = 3}), 3u);
    EXPECT_EQ(tokens({.min_tokens = 4, .max_tokens = 4}), 4u);
    EXPECT_LE(tokens({.min_tokens = 1000}), 26u) << "the most that its source allows";
  }
  EXPECT_LT(shortest, 4u);
  EXPECT_GT(longest, 4u);
}

}  // namespace
}  // namespace heed
