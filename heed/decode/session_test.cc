#include "heed/decode/session.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/decode/beam_search.h"
#include "heed/decode/sampler.h"
#include "heed/io/fields.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/rnn.h"
#include "heed/models/transformer.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;
using Ids = std::vector<std::int32_t>;

constexpr Index kVocabulary = 40;
const SpecialTokens kSymbols{};

TransformerConfig small_transformer() {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = kVocabulary;
  config.width = 32, config.heads = 4, config.ffn_width = 48;
  config.encoder_layers = 1, config.decoder_layers = 2;
  config.max_length = 64;
  return config;
}

RnnConfig small_rnn(RnnConfig config) {
  config.source_vocabulary = config.target_vocabulary = kVocabulary;
  config.embedding_width = 12, config.state_width = 16, config.attention_width = 12;
  config.max_length = 64;
  return config;
}

// Every kind of memory and of state that a row may have.
std::map<std::string, std::unique_ptr<NextToken>> models() {
  // A source of its own for each, since their names are the same.
  const auto transformer = [](const TransformerConfig& config) {
    DrawnParameters drawn(Rng(3));
    return std::make_unique<Transformer>(drawn, config);
  };
  const auto rnn = [](const RnnConfig& config) {
    DrawnParameters drawn(Rng(3));
    return std::make_unique<RnnTranslator>(drawn, config);
  };
  std::map<std::string, std::unique_ptr<NextToken>> all;
  TransformerConfig config = small_transformer();
  all["softmax"] = transformer(config);
  config.positions = PositionKind::learned;
  config.kv_heads = 1;
  config.norm_place = NormPlace::post;
  all["multi-query"] = transformer(config);
  for (const char* attention : {"window(3)", "strided(3)", "fixed(3)", "bigbird(3)", "elu", "cosine + alibi + sinks",
                                "squared_distance + rotary + sparsemax", "relative(buckets=8) + entmax15"}) {
    config = small_transformer();
    config.attention = AttentionChoice(attention);
    all[attention] = transformer(config);
  }
  config = small_transformer();
  config.encoder_layers = 0, config.max_length = 200;  // of a prompt and what follows it
  all["language model"] = transformer(config);
  all["bahdanau"] = rnn(small_rnn(bahdanau_config()));
  RnnConfig luong = small_rnn(luong_config());
  all["luong"] = rnn(luong);
  luong.reach = RnnReach::local_m, luong.local_window = 2;
  all["local-m"] = rnn(luong);
  luong.reach = RnnReach::local_p, luong.input_feeding = false;
  all["local-p"] = rnn(luong);
  return all;
}

TokenBatch batch_of(const std::vector<Ids>& sentences) {
  std::size_t longest = 0;
  for (const Ids& sentence : sentences) longest = std::max(longest, sentence.size());
  Ids ids, lengths;
  for (Ids sentence : sentences) {
    lengths.push_back(static_cast<std::int32_t>(sentence.size()));
    sentence.resize(longest, 0);
    ids.insert(ids.end(), sentence.begin(), sentence.end());
  }
  const Index rows = std::ssize(sentences);
  return {Tensor::from(ids, {rows, static_cast<Index>(longest)}), Tensor::from(lengths, {rows})};
}

// Sentences of 1 to 40 tokens, so that some are of more than one page.
std::vector<Ids> sentences() {
  Rng rng(5);
  std::vector<Ids> all;
  for (Index length : {7, 40, 1, 3, 36, 12}) {
    Ids& sentence = all.emplace_back();
    for (Index i = 0; i + 1 < length; ++i)
      sentence.push_back(static_cast<std::int32_t>(4 + rng.below(kVocabulary - 4)));
    sentence.push_back(kSymbols.ends[0]);
  }
  return all;
}

// The search of sentence i: every other one draws, and some of these end early.
std::unique_ptr<Search> search_of(Index i) {
  if (i % 2 == 0) return std::make_unique<BeamSearch>(BeamOptions{.beam = 3, .best = 3}, kSymbols, kSymbols.begin, 45);
  const SamplingOptions options{.temperature = 1.5, .top_p = 0.95, .repetition_penalty = 1.2};
  return std::make_unique<Sampler>(options, kSymbols, Ids{kSymbols.begin}, i, i == 3 ? 4 : 50);
}

using Results = std::vector<std::vector<Hypothesis>>;

Results alone(const NextToken& model) {
  Workspace workspace;
  Results results;
  const std::vector<Ids> all = sentences();
  for (Index i = 0; i < std::ssize(all); ++i) {
    Searches searches;
    searches.push_back(search_of(i));
    results.push_back(decode(model, batch_of({all[i]}), std::move(searches), workspace)[0]);
  }
  return results;
}

// Sentences enter by and by: the first two at once, and one more after each `pause` steps.
Results together(const NextToken& model, Index pause) {
  Workspace workspace;
  Session session(model, workspace);
  const std::vector<Ids> all = sentences();
  Results results(all.size());
  Index next = 0;
  const auto admit = [&](Index count) {
    Searches searches;
    for (Index i = next; i < next + count; ++i) searches.push_back(search_of(i));
    EXPECT_EQ(session.admit(batch_of({all.begin() + next, all.begin() + next + count}), std::move(searches)), next);
    next += count;
  };
  admit(2);
  for (Index step = 1; session.rows() > 0 || next < std::ssize(all); ++step) {
    session.step();
    if (next < std::ssize(all) && step % pause == 0) admit(1);
    for (Session::Ended& ended : session.take()) results[ended.sequence] = std::move(ended.hypotheses);
  }
  return results;
}

void expect_same(const Results& a, const Results& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size()) << "sentence " << i;
    ASSERT_FALSE(a[i].empty());
    for (std::size_t h = 0; h < a[i].size(); ++h) {
      EXPECT_EQ(a[i][h].tokens, b[i][h].tokens) << "sentence " << i;
      EXPECT_EQ(a[i][h].token_scores, b[i][h].token_scores) << "sentence " << i;
      EXPECT_EQ(a[i][h].score, b[i][h].score) << "sentence " << i;
    }
  }
}

TEST(Session, ASequenceThatIsAdmittedMeanwhileHasTheBitsThatItHasAlone) {
  const int threads = thread_count();
  for (const auto& [name, model] : models()) {
    SCOPED_TRACE(name);
    set_thread_count(1);
    const Results expected = alone(*model);
    for (Index pause : {1, 3, 60}) {
      set_thread_count(pause == 3 ? 3 : 1);
      expect_same(together(*model, pause), expected);
    }
  }
  set_thread_count(threads);
}

TEST(Session, ASequenceLeavesWhenItHasEnded) {
  DrawnParameters drawn(Rng(3));
  const Transformer model(drawn, small_transformer());
  Workspace workspace;
  Session session(model, workspace);
  EXPECT_EQ(session.rows(), 0);
  session.step();  // of nothing
  const auto draw = [](Index sequence, Index most) {
    SpecialTokens endless = kSymbols;
    endless.ends.clear();
    return std::make_unique<Sampler>(SamplingOptions{}, endless, Ids{kSymbols.begin}, sequence, most);
  };
  Searches searches;
  searches.push_back(draw(0, 5));
  searches.push_back(draw(1, 2));
  session.admit(batch_of({{4, 3}, {5, 6, 3}}), std::move(searches));
  std::vector<Index> rows, ended;
  for (int step = 0; step < 5; ++step) {
    session.step();
    rows.push_back(session.rows());
    for (const Session::Ended& sequence : session.take()) ended.push_back(sequence.sequence);
  }
  EXPECT_EQ(rows, (std::vector<Index>{2, 1, 1, 1, 0}));
  EXPECT_EQ(ended, (std::vector<Index>{1, 0}));
  EXPECT_TRUE(session.take().empty());
}

TEST(Session, RefusesSequencesWithoutASearchAndThoseThatAreTooLong) {
  DrawnParameters drawn(Rng(3));
  const Transformer model(drawn, small_transformer());
  Workspace workspace;
  Session session(model, workspace);
  EXPECT_EQ(refusal([&] { session.admit(batch_of({{4, 3}}), {}); }), "Session::admit: 1 sequences have 0 searches");
  Searches searches;
  searches.push_back(search_of(0));
  EXPECT_EQ(refusal([&] { session.admit(batch_of({Ids(65, 4)}), std::move(searches)); }),
            "Session::admit: a sequence has 65 tokens, and the model takes 64");
}

}  // namespace
}  // namespace heed
