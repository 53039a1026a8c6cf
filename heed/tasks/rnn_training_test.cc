// A recurrent model learns a task that it can only solve by attending to the right token.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/decode/beam_search.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/models/rnn.h"
#include "heed/optim/adam.h"
#include "heed/optim/schedule.h"

namespace heed {
namespace {

constexpr Index kRows = 32, kLength = 5;
constexpr std::int32_t kPad = 0, kBegin = 2, kEnd = 3, kFirstSymbol = 4, kSymbols = 8;

// Sentences of 2 to 5 symbols and, as their translation, the same symbols in reverse.
SequenceBatch reversal_batch(Rng& rng) {
  const auto ids = [] { return Tensor::zeros(DType::i32, {kRows, kLength + 1}); };
  SequenceBatch batch{{ids(), Tensor::zeros(DType::i32, {kRows})}, ids(), ids()};
  for (Index b = 0; b < kRows; ++b) {
    const Index length = 2 + rng.below(kLength - 1);
    batch.source.lengths.at<std::int32_t>({b}) = static_cast<std::int32_t>(length + 1);
    batch.input.at<std::int32_t>({b, 0}) = kBegin;
    for (Index i = 0; i < length; ++i) {
      const std::int32_t symbol = kFirstSymbol + static_cast<std::int32_t>(rng.below(kSymbols));
      batch.source.ids.at<std::int32_t>({b, i}) = symbol;
      batch.output.at<std::int32_t>({b, length - 1 - i}) = symbol;
      batch.input.at<std::int32_t>({b, length - i}) = symbol;
    }
    batch.source.ids.at<std::int32_t>({b, length}) = kEnd;
    batch.output.at<std::int32_t>({b, length}) = kEnd;
  }
  return batch;
}

RnnConfig reversal_config(RnnConfig config) {
  config.source_vocabulary = config.target_vocabulary = kFirstSymbol + kSymbols;
  config.embedding_width = 24, config.state_width = 48, config.attention_width = 24;
  config.dropout = 0;
  return config;
}

// Returns the loss of a target token, averaged over the last ten updates.
double train_to_reverse(const RnnTranslator& model, const ParameterList& list, Index updates) {
  std::vector<Var> parameters;
  for (const auto& [name, var] : list) parameters.push_back(var);
  Adam adam({.beta2 = 0.98}, parameters);
  Workspace workspace;
  Rng data(5);
  double last = 0;
  for (Index update = 1; update <= updates; ++update) {
    const SequenceBatch batch = reversal_batch(data);
    for (const Var& var : parameters) var.zero_grad();
    Tape tape;
    const LossResult result = model.loss({.tape = &tape, .workspace = workspace}, batch, {});
    tape.backward();
    const double tokens = static_cast<double>(result.tokens);
    adam.step(inverse_square_root_rate(0.01, 40, update), 1 / tokens);
    if (update > updates - 10) last += result.nll_sum / tokens / 10;
  }
  return last;
}

class Reversal : public ::testing::TestWithParam<std::string> {
 protected:
  // The matrices are small: threads would mostly wait for each other.
  void SetUp() override { set_thread_count(1); }
  void TearDown() override { set_thread_count(threads_); }
  int threads_ = thread_count();
};

INSTANTIATE_TEST_SUITE_P(Models, Reversal, ::testing::Values("bahdanau", "luong"),
                         [](const ::testing::TestParamInfo<std::string>& instance) { return instance.param; });

TEST_P(Reversal, IsLearnedAndDecoded) {
  DrawnParameters drawn(Rng(1));
  const RnnTranslator model(drawn, reversal_config(GetParam() == "luong" ? luong_config() : bahdanau_config()));
  EXPECT_LT(train_to_reverse(model, drawn.list(), 200), 0.1);  // a guess among the symbols has a loss of 2.1

  Rng unseen(77);
  const SequenceBatch batch = reversal_batch(unseen);
  Workspace workspace;
  const auto best =
      beam_search(model, batch.source, {.beam = 2}, {.begin = kBegin, .ends = {kEnd}, .never = {kPad}}, workspace);
  Index right = 0;
  for (Index b = 0; b < kRows; ++b) {
    std::vector<std::int32_t> expected;
    for (Index i = batch.source.lengths.at<std::int32_t>({b}) - 2; i >= 0; --i) {
      expected.push_back(batch.source.ids.at<std::int32_t>({b, i}));
    }
    right += best[static_cast<std::size_t>(b)][0].tokens == expected;
  }
  EXPECT_GE(right, kRows * 9 / 10);
}

}  // namespace
}  // namespace heed
