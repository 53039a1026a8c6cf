#include "heed/tasks/training_update.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "heed/layers/drawn_parameters.h"
#include "heed/models/model_config.h"
#include "heed/tasks/model_batch.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

TrainOptions small_options() {
  TrainOptions options;
  TransformerConfig& t = options.model.transformer;
  t.source_vocabulary = t.target_vocabulary = 12;
  t.width = 16, t.ffn_width = 32, t.heads = 2, t.encoder_layers = t.decoder_layers = 1,
  t.dropout = t.attention_dropout = t.activation_dropout = 0;
  return options;
}

// A small model and the update of its parameters.
struct Trained {
  explicit Trained(const TrainOptions& given)
      : options(given), model(make_model(drawn, options.model)), update(*model, parameters, options) {}

  TrainOptions options;
  DrawnParameters drawn{Rng(1)};
  std::unique_ptr<SequenceModel> model;
  const ParameterList& parameters = drawn.list();
  TrainingUpdate update;
};

TrainingBatch batch_of(std::vector<EncodedPair> pairs) {
  EncodedCorpus corpus;
  corpus.pairs = std::move(pairs);
  std::vector<Index> all;
  for (Index i = 0; i < corpus.size(); ++i) all.push_back(i);
  const Batch batch = make_batch(corpus, all);
  return {make_translation_batch(batch), batch.target_tokens};
}

const EncodedPair kShort{{4, 5}, {6}}, kLong{{7, 8, 9, 4}, {10, 11, 5, 6, 7}};

TEST(TrainingUpdate, TheLossIsTheMeanOverTheTokensOfAllBatches) {
  const TrainingBatch first = batch_of({kShort}), second = batch_of({kLong});
  const auto of = [](std::vector<TrainingBatch> batches) { return Trained(small_options()).update.run(1, batches); };
  const UpdateResult a = of({first}), b = of({second}), both = of({first, second});
  EXPECT_EQ(both.target_tokens, a.target_tokens + b.target_tokens);
  EXPECT_NEAR(both.loss,
              (a.loss * static_cast<double>(a.target_tokens) + b.loss * static_cast<double>(b.target_tokens)) /
                  static_cast<double>(both.target_tokens),
              1e-9);
}

TEST(TrainingUpdate, ALongGradientIsClippedAndAShortOneLeftAlone) {
  const std::vector<TrainingBatch> batches{batch_of({kShort, kLong})};
  for (const double clip : {0.0, 0.01, 1e6}) {
    TrainOptions options = small_options();
    options.clip = clip;
    Trained trained(options);
    const UpdateResult result = trained.update.run(1, batches);
    ASSERT_GT(result.gradient_norm, 0.01);
    double squares = 0;  // Adam's first moment is 1 - beta1 times the gradient that it was given
    for (std::size_t p = 0; p < trained.parameters.size(); ++p) {
      const Tensor& moment = trained.update.adam().first_moment(p);
      for (Index i = 0; i < moment.size(); ++i) {
        const double g = moment.data<float>()[i] / (1 - options.adam_beta1);
        squares += g * g;
      }
    }
    EXPECT_NEAR(std::sqrt(squares), clip == 0.01 ? clip : result.gradient_norm, 1e-5 * result.gradient_norm) << clip;
  }
}

// What a run that goes on depends on: no generator stands between one update and the next.
TEST(TrainingUpdate, WhatIsDroppedDependsOnTheNumberAndNotOnEarlierUpdates) {
  TrainOptions options = small_options();
  options.model.transformer.dropout = 0.5;
  const std::vector<TrainingBatch> batches{batch_of({kShort}), batch_of({kShort})};
  const auto loss = [&](Index number, Index earlier) {
    options.rate = 0;  // the parameters stay
    Trained trained(options);
    for (Index before = number - earlier; before < number; ++before) trained.update.run(before, batches);
    return trained.update.run(number, batches).loss;
  };
  EXPECT_EQ(loss(5, 0), loss(5, 3));
  EXPECT_NE(loss(5, 0), loss(6, 0));
}

TEST(TrainingUpdate, WhatIsNotFiniteChangesNothing) {
  Trained trained(small_options()), fresh(small_options());
  const Tensor& spoiled = trained.parameters[0].var.value();
  fill(spoiled, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(trained.update.run(1, std::vector<TrainingBatch>{batch_of({kLong})}).finite());
  EXPECT_EQ(trained.update.adam().updates(), 0);
  for (std::size_t p = 1; p < trained.parameters.size(); ++p) {
    EXPECT_TRUE(testing::same_bits(trained.parameters[p].var, fresh.parameters[p].var)) << trained.parameters[p].name;
  }
}

}  // namespace
}  // namespace heed
