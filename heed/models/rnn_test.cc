#include "heed/models/rnn.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/io/fields.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/model_config.h"
#include "heed/models/small_batch.h"
#include "heed/ops/softmax.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using heed::testing::gradient_error;
using heed::testing::same_bits;
using Ids = std::vector<std::int32_t>;

RnnConfig sized(RnnConfig config) {
  config.source_vocabulary = config.target_vocabulary = 11;
  config.embedding_width = 5, config.state_width = 4, config.attention_width = 3;
  config.max_length = 12;
  return config;
}

// Named configurations that together use every option.
struct Named {
  std::string name;
  RnnConfig config;
  friend std::ostream& operator<<(std::ostream& out, const Named& named) { return out << named.name; }
};

std::vector<Named> configurations() {
  std::vector<Named> list;
  const auto add = [&](std::string name, RnnConfig config, auto&& change) {
    config = sized(config);
    change(config);
    list.push_back({std::move(name), config});
  };
  add("bahdanau", bahdanau_config(), [](RnnConfig&) {});
  add("bahdanau_of_the_paper", bahdanau_config(), [](RnnConfig& c) {
    c.cell = CellKind::gru_reset_first;
    c.share_embeddings = c.tie_output = false;
    c.source_vocabulary = 9;
  });
  add("bahdanau_stacked_lstm", bahdanau_config(), [](RnnConfig& c) {
    c.cell = CellKind::lstm;
    c.encoder_layers = 2, c.decoder_layers = 3;
    c.score = RnnScore::general;
  });
  add("bahdanau_one_direction_dot", bahdanau_config(), [](RnnConfig& c) {
    c.bidirectional = false;
    c.score = RnnScore::dot;
  });
  add("luong_general", luong_config(), [](RnnConfig&) {});
  add("luong_dot", luong_config(), [](RnnConfig& c) { c.score = RnnScore::dot; });
  add("luong_concat_stacked", luong_config(), [](RnnConfig& c) {
    c.score = RnnScore::additive;
    c.bidirectional = false;
    c.encoder_layers = c.decoder_layers = 2;
  });
  add("luong_without_input_feeding", luong_config(), [](RnnConfig& c) {
    c.input_feeding = false;
    c.cell = CellKind::lstm_peephole;
  });
  add("luong_dot_without_input_feeding", luong_config(), [](RnnConfig& c) {
    c.input_feeding = false;
    c.score = RnnScore::dot;
    c.cell = CellKind::rnn;
    c.decoder_layers = 2;
  });
  add("luong_concat_without_input_feeding", luong_config(), [](RnnConfig& c) {
    c.input_feeding = false;
    c.score = RnnScore::additive;
  });
  add("luong_local_m", luong_config(), [](RnnConfig& c) {
    c.reach = RnnReach::local_m;
    c.local_window = 1;
  });
  add("luong_local_p", luong_config(), [](RnnConfig& c) {
    c.reach = RnnReach::local_p;
    c.local_window = 1;
  });
  add("luong_local_m_without_input_feeding", luong_config(), [](RnnConfig& c) {
    c.input_feeding = false;
    c.reach = RnnReach::local_m;
    c.local_window = 1;
  });
  add("luong_local_p_without_input_feeding", luong_config(), [](RnnConfig& c) {
    c.input_feeding = false;
    c.score = RnnScore::additive;
    c.reach = RnnReach::local_p;
    c.local_window = 2;
  });
  add("bahdanau_local_p", bahdanau_config(), [](RnnConfig& c) {
    c.reach = RnnReach::local_p;
    c.local_window = 2;
  });
  return list;
}

TokenBatch tokens(const Ids& ids, const Ids& lengths) {
  const Index rows = static_cast<Index>(lengths.size());
  return {Tensor::from(ids, {rows, static_cast<Index>(ids.size()) / rows}), Tensor::from(lengths, {rows})};
}

class RnnOf : public ::testing::TestWithParam<Named> {
 protected:
  // Thousands of tiny operators: threads would only wait for each other.
  void SetUp() override { set_thread_count(1); }
  void TearDown() override { set_thread_count(threads_); }

  RnnTranslator make() { return RnnTranslator(drawn_, GetParam().config); }

  int threads_ = thread_count();
  DrawnParameters drawn_{Rng(1)};
  Workspace workspace_;
  Context inference_ = Context::inference(workspace_);
};

INSTANTIATE_TEST_SUITE_P(Configurations, RnnOf, ::testing::ValuesIn(configurations()),
                         [](const ::testing::TestParamInfo<Named>& instance) { return instance.param.name; });

TEST_P(RnnOf, GradientsAgreeWithFiniteDifferences) {
  const RnnTranslator model = make();
  const ParameterList& parameters = drawn_.list();
  for (const auto& [name, var] : parameters) var.convert(DType::f64);
  const SequenceBatch batch = small_batch();
  const CrossEntropyOptions options{.label_smoothing = 0.1, .gradient_scale = 0.5};
  const auto loss = [&](Tape* tape) {
    DropoutCalls dropout({.seed = 7});
    return 0.5 * model.loss({.tape = tape, .workspace = workspace_, .dropout = &dropout}, batch, options).loss_sum;
  };
  Tape tape;
  loss(&tape);
  tape.backward();
  for (const auto& [name, var] : parameters) {
    ASSERT_TRUE(var.has_grad()) << name;
    EXPECT_LT(gradient_error([&] { return loss(nullptr); }, var.value(), var.grad().view()), 1e-7) << name;
  }
}

TEST_P(RnnOf, SteppingGivesTheLossOfTeacherForcing) {
  const RnnTranslator model = make();
  const SequenceBatch batch = small_batch();
  const LossResult expected = model.loss(inference_, batch, {});
  const auto state = admitted(model, inference_, batch.source);
  double nll = 0;
  for (Index t = 0; t < 3; ++t) {
    const Ids read{batch.input.at<std::int32_t>({0, t}), batch.input.at<std::int32_t>({1, t})};
    const Tensor logits = model.step(inference_, *state, read);
    log_softmax(logits, logits);
    for (Index b = 0; b < 2; ++b) {
      const Index wanted = batch.output.at<std::int32_t>({b, t});
      if (wanted != 0) nll -= static_cast<double>(logits.at<float>({b, wanted}));
    }
  }
  EXPECT_NEAR(nll, expected.nll_sum, 1e-5 * expected.nll_sum);
  EXPECT_EQ(expected.tokens, 5);
}

TEST_P(RnnOf, PaddingChangesNoBitOfTheLossAndTheBatchOnlyItsSum) {
  const RnnTranslator model = make();
  const TokenBatch first = tokens({4, 5, 6, 3}, {4}), second = tokens({7, 8, 3}, {3});
  const LossResult a =
      model.loss(inference_, {first, Tensor::from(Ids{2, 9, 10}, {1, 3}), Tensor::from(Ids{9, 10, 3}, {1, 3})}, {});
  const LossResult b =
      model.loss(inference_, {second, Tensor::from(Ids{2, 5}, {1, 2}), Tensor::from(Ids{5, 3}, {1, 2})}, {});
  const TokenBatch longer = tokens({7, 8, 3, 6, 4}, {3});  // what stands behind the sentence's end must not matter
  const LossResult padded = model.loss(
      inference_, {longer, Tensor::from(Ids{2, 5, 10, 10}, {1, 4}), Tensor::from(Ids{5, 3, 0, 0}, {1, 4})}, {});
  EXPECT_EQ(padded.nll_sum, b.nll_sum);
  EXPECT_EQ(padded.tokens, 2);
  const LossResult both = model.loss(inference_, small_batch(), {});
  EXPECT_NEAR(both.nll_sum, a.nll_sum + b.nll_sum, 1e-12 * both.nll_sum);
}

TEST_P(RnnOf, DecodingHasTheSameBitsInAnyBatchAndRowOrder) {
  const RnnTranslator model = make();
  const auto together = admitted(model, inference_, small_batch().source);
  const auto alone = admitted(model, inference_, tokens({7, 8, 3}, {3}));
  const Tensor first = model.step(inference_, *together, Ids{2, 2});
  EXPECT_TRUE(same_bits(first.rows(1, 2).view(), model.step(inference_, *alone, Ids{2}).view()));
  together->select_rows(std::vector<Index>{1, 1, 0});
  const Tensor second = model.step(inference_, *together, Ids{5, 6, 5});
  const auto copy = admitted(model, inference_, tokens({7, 8, 3}, {3}));
  model.step(inference_, *copy, Ids{2});
  EXPECT_TRUE(same_bits(second.rows(0, 1).view(), model.step(inference_, *alone, Ids{5}).view()));
  EXPECT_TRUE(same_bits(second.rows(1, 2).view(), model.step(inference_, *copy, Ids{6}).view()));
}

struct WeightSums : AttentionObserver {
  bool wants(const AttentionSite&) const override { return true; }
  void on_weights(const AttentionSite& site, ConstView weights) override {
    EXPECT_EQ(site.path, "decoder.attention");
    EXPECT_EQ(site.kind, AttentionKind::cross);
    ASSERT_EQ(weights.rank, 4);
    queries += weights.shape[2];
    for (Index b = 0; b < weights.shape[0]; ++b) {
      for (Index i = 0; i < weights.shape[2]; ++i) {
        double sum = 0;
        for (Index j = 0; j < weights.shape[3]; ++j) sum += static_cast<double>(weights.at<float>({b, 0, i, j}));
        EXPECT_NEAR(sum, 1, 1e-6);
      }
      if (b == 1) {
        EXPECT_EQ(weights.at<float>({1, 0, 0, 3}), 0);  // its sentence has three tokens
      }
    }
  }
  Index queries = 0;
};

TEST_P(RnnOf, ObserversSeeWeightsThatSumToOneForEveryTargetToken) {
  WeightSums sums;
  Context context = inference_;
  context.observer = &sums;
  make().loss(context, small_batch(), {});
  EXPECT_EQ(sums.queries, 3);
}

TEST_P(RnnOf, ListsTheParametersThatItDraws) {
  ListedParameters listed;
  const RnnTranslator of_no_use(listed, GetParam().config);
  make();
  EXPECT_EQ(listed.shapes(), drawn_.shapes());
  EXPECT_TRUE(listed.list().empty());
}

TEST_P(RnnOf, TheConfigurationReadFromJsonMakesTheSameModel) {
  ModelConfig config;
  config.kind = ModelKind::rnn;
  config.rnn = GetParam().config;
  const ModelConfig read = model_config_from_json(to_json(config));
  EXPECT_EQ(to_json(read), to_json(config));
  make();
  DrawnParameters drawn(Rng(1));
  make_model(drawn, read);
  const ParameterList &expected = drawn_.list(), &parameters = drawn.list();
  ASSERT_EQ(parameters.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(parameters[i].name, expected[i].name);
    EXPECT_TRUE(same_bits(parameters[i].var, expected[i].var)) << expected[i].name;
  }
}

TEST(RnnTranslator, ConcatIsReadAsAdditive) {
  RnnScore score = RnnScore::dot;
  EXPECT_TRUE(enum_from_name("concat", score));
  EXPECT_EQ(score, RnnScore::additive);
  EXPECT_EQ(enum_name(score), "additive");
}

TEST(RnnTranslator, RefusesAConfigurationThatMakesNoSense) {
  const auto refused = [](const RnnConfig& base, auto&& change, const std::string& word) {
    RnnConfig config = sized(base);
    change(config);
    ListedParameters listed;
    const std::string message = testing::refusal([&] { const RnnTranslator model(listed, config); });
    EXPECT_NE(message.find(word), std::string::npos) << message << "; expected: " << word;
  };
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.embedding_width = 0; }, "embedding_width");
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.state_width = -1; }, "state_width");
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.decoder_layers = 0; }, "decoder_layers");
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.dropout = 1; }, "dropout");
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.source_vocabulary = 7; }, "share_embeddings");
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.input_feeding = true; }, "input_feeding");
  refused(
      bahdanau_config(), [](RnnConfig& c) { c.score = RnnScore::dot; }, "dot");
  refused(
      luong_config(), [](RnnConfig& c) { c.state_width = 5; }, "even");
  refused(
      luong_config(), [](RnnConfig& c) { c.local_window = 0; }, "local_window");
}

}  // namespace
}  // namespace heed
