// Sequences one after another, each of which begins as the one before it did: what they have in common is read once,
// where the model can go on from there, and what comes of them is what comes of each alone.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heed/decode/beam_search.h"
#include "heed/decode/sampler.h"
#include "heed/decode/session.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/transformer.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr Index kPieces = 40;

TransformerConfig language_model(const std::string& attention) {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = kPieces;
  config.width = 32, config.heads = 4, config.kv_heads = 2, config.ffn_width = 48;
  config.positions = PositionKind::learned;
  config.encoder_layers = 0, config.decoder_layers = 2;
  config.max_length = 400;
  config.attention = AttentionChoice(attention);
  return config;
}

// A model that counts the tokens that it is given before steps.
class CountsTokens : public NextToken {
 public:
  explicit CountsTokens(const NextToken& model) : model_(model) {}
  std::unique_ptr<DecoderState> start(Precision cache) const override { return model_.start(cache); }
  void admit(const Context& context, DecoderState& state, const TokenBatch& sequences) const override {
    model_.admit(context, state, sequences);
    for (Index i = 0; i < sequences.lengths.size(); ++i) read_ += sequences.lengths.at<std::int32_t>({i});
  }
  bool go_on(const Context& context, DecoderState& state, Index kept,
             std::span<const std::int32_t> tokens) const override {
    if (!model_.go_on(context, state, kept, tokens)) return false;
    read_ += std::ssize(tokens);
    return true;
  }
  Tensor step(const Context& context, DecoderState& state, std::span<const std::int32_t> tokens) const override {
    return model_.step(context, state, tokens);
  }
  Index vocabulary() const override { return model_.vocabulary(); }
  Index max_length() const override { return model_.max_length(); }
  Index max_steps(Index admitted) const override { return model_.max_steps(admitted); }

  // Since the last call.
  Index take_read() { return std::exchange(read_, 0); }

 private:
  const NextToken& model_;
  mutable Index read_ = 0;
};

constexpr Index kAnswer = 9;  // tokens

// Reads `tokens` and draws as many as an answer has.
Hypothesis answer(Session& session, const Ids& tokens) {
  SpecialTokens endless{};
  endless.ends.clear();
  Searches searches;
  searches.push_back(std::make_unique<Sampler>(SamplingOptions{.temperature = 1.5}, endless, tokens, 0, kAnswer));
  const Index admitted = std::ssize(tokens) - 1;
  const TokenBatch batch{Tensor::from(Ids(tokens.begin(), tokens.end() - 1), {1, admitted}),
                         Tensor::from(Ids{static_cast<std::int32_t>(admitted)}, {1})};
  session.admit(batch, std::move(searches));
  while (session.rows() > 0) session.step();
  return session.take().at(0).hypotheses.at(0);
}

Ids drawn_tokens(Rng& rng, Index count) {
  Ids tokens;
  for (Index i = 0; i < count; ++i) tokens.push_back(static_cast<std::int32_t>(4 + rng.below(kPieces - 4)));
  return tokens;
}

struct Turn {
  Ids tokens;
  Index common;  // with what was read before
};

// A talk of five turns, the first of which was answered so; then one whose second half is another, then one that is all
// within it, and one with nothing in common.
std::vector<Turn> turns_of(const NextToken& model) {
  Workspace workspace;
  Rng rng(5);
  std::vector<Turn> turns;
  Ids talk{2}, last;
  Index read = 0;
  for (const Index said : {70, 1, 33, 8, 100}) {
    for (const std::int32_t token : drawn_tokens(rng, said)) talk.push_back(token);
    turns.push_back({talk, read});
    Session session(model, workspace);
    for (const std::int32_t token : answer(session, talk).tokens) talk.push_back(token);
    read = std::ssize(talk) - 1;  // the last token of an answer is not read
  }
  Ids other(talk.begin(), talk.begin() + 50);
  for (const std::int32_t token : drawn_tokens(rng, 20)) other.push_back(token == talk[50] ? token - 1 : token);
  turns.push_back({other, 50});
  turns.push_back({Ids(other.begin(), other.begin() + 30), 29});
  turns.push_back({{7, 8, 9}, 0});
  return turns;
}

class GrowingSequences : public ::testing::TestWithParam<const char*> {};

TEST_P(GrowingSequences, AreReadOnceWithTheBitsThatTheyHaveAlone) {
  DrawnParameters drawn(Rng(3));
  const Transformer transformer(drawn, language_model(GetParam()));
  CountsTokens model(transformer);
  Workspace workspace;
  const std::vector<Turn> turns = turns_of(transformer);
  Session session(model, workspace);
  for (std::size_t n = 0; n < turns.size(); ++n) {
    const auto& [tokens, common] = turns[n];
    Session alone(transformer, workspace);
    const Hypothesis expected = answer(alone, tokens), grown = answer(session, tokens);
    EXPECT_EQ(grown.tokens, expected.tokens) << "turn " << n;
    EXPECT_EQ(grown.token_scores, expected.token_scores) << "turn " << n;
    EXPECT_EQ(model.take_read(), std::ssize(tokens) - 1 - common) << "turn " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GrowingSequences,
                         ::testing::Values("dot", "window(3)", "window(40)", "dot + alibi + sinks",
                                           "cosine + alibi + sinks", "squared_distance + rotary + sparsemax", "rotary",
                                           "relative(buckets=8) + entmax15", "strided(3)", "fixed(3)", "bigbird(3)"));

// Whatever else the session had before.
TEST(SequencesReadAnew, BehindSeveralABeamAndAnError) {
  DrawnParameters drawn(Rng(3));
  const Transformer transformer(drawn, language_model("dot"));
  CountsTokens model(transformer);
  Workspace workspace;
  Session session(model, workspace);
  const std::vector<Turn> turns = turns_of(transformer);
  const Ids &first = turns[0].tokens, &second = turns[1].tokens;
  const auto expect_turn = [&](const Ids& tokens, Index read) {
    Session alone(transformer, workspace);
    EXPECT_EQ(answer(session, tokens).token_scores, answer(alone, tokens).token_scores);
    EXPECT_EQ(model.take_read(), read);
  };
  const auto admit = [&](const std::vector<Ids>& sequences, Searches searches) {
    Ids ids, lengths;
    for (const Ids& sequence : sequences) {
      ids.insert(ids.end(), sequence.begin(), sequence.begin() + 5), lengths.push_back(5);
    }
    const Index rows = std::ssize(sequences);
    session.admit({Tensor::from(ids, {rows, 5}), Tensor::from(lengths, {rows})}, std::move(searches));
  };
  const auto all = [](const Ids& tokens) { return std::ssize(tokens) - 1; };
  expect_turn(first, all(first));
  // Two that end in one step.
  Searches two;
  for (int i = 0; i < 2; ++i) two.push_back(std::make_unique<Sampler>(SamplingOptions{}, SpecialTokens{}, first, i, 1));
  admit({first, second}, std::move(two));
  session.step();
  EXPECT_EQ(session.take().size(), 2u);
  model.take_read();
  expect_turn(second, all(second));
  // A beam, which begins as what was read before.
  Searches beam;
  beam.push_back(std::make_unique<BeamSearch>(BeamOptions{.beam = 3}, SpecialTokens{}, 2, 4));
  admit({second}, std::move(beam));
  EXPECT_EQ(model.take_read(), 0);
  while (session.rows() > 0) session.step();
  session.take();
  expect_turn(second, all(second));
  // A token that the model has not, behind some that were read.
  Ids wrong(second.begin(), second.begin() + 50);
  wrong.insert(wrong.end(), {kPieces, 5});
  EXPECT_NE(testing::refusal([&] { answer(session, wrong); }), "");
  model.take_read();
  expect_turn(second, all(second));
}

// Sums of linear attention have forgotten what each token added, and what is kept rounded is not what a prompt meets.
TEST(SequencesReadAnew, WhereTheBitsWouldBeOthers) {
  for (const auto& [attention, cache] :
       {std::pair{"elu", Precision::f32}, std::pair{"dot", Precision::bf16}, std::pair{"dot", Precision::int8}}) {
    DrawnParameters drawn(Rng(3));
    const Transformer transformer(drawn, language_model(attention));
    CountsTokens model(transformer);
    Workspace workspace;
    Session session(model, workspace, cache);
    for (const auto& [tokens, common] : turns_of(transformer)) {
      Session alone(transformer, workspace, cache);
      const Hypothesis expected = answer(alone, tokens), grown = answer(session, tokens);
      EXPECT_EQ(grown.token_scores, expected.token_scores) << attention;
      EXPECT_EQ(model.take_read(), std::ssize(tokens) - 1) << attention;
    }
  }
}

}  // namespace
}  // namespace heed
