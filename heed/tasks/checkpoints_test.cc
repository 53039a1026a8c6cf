#include "heed/tasks/checkpoints.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/file.h"
#include "heed/io/safetensors.h"
#include "heed/models/model_config.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

// A run of one parameter, whose value after update u is u.
class CheckpointsTest : public testing::ScratchTest {
 protected:
  CheckpointsTest() {
    training_ = std::make_unique<TrainingFolder>(folder_);
    training_->begin(Json::object({}));
    state_ = checkpoints().resume();
  }

  Checkpoints checkpoints() { return {*training_, config_, parameters_, adam_, /*average=*/3, monitor_}; }
  void go_to(Index update) {
    state_.update = update;
    fill(parameters_[0].var.value(), static_cast<double>(update));
  }
  // Keeps the checkpoints of updates 1 to 4, of which 2 is the best.
  void keep_four(Checkpoints& checkpoints) {
    for (const double bleu : {10, 30, 20, 25}) {
      go_to(state_.update + 1);
      checkpoints.keep(state_, {{state_.update}, bleu, 1});
    }
  }
  float model_value() const { return read_safetensors(folder_ / "model.safetensors").at("weight").at<float>({0}); }
  bool is_kept(Index update) const {
    return file_exists(training_->training() / ("parameters-" + std::to_string(update) + ".safetensors"));
  }

  Json config_ = to_json(ModelConfig());
  ParameterList parameters_{{"weight", Var::parameter(Tensor::zeros(DType::f32, {1}))}};
  Adam adam_{{}, {parameters_[0].var}};
  TrainingMonitor monitor_;
  std::unique_ptr<TrainingFolder> training_;
  TrainingState state_;
};

TEST_F(CheckpointsTest, TheLastOnesAndTheBestAreKept) {
  Checkpoints checkpoints = this->checkpoints();
  keep_four(checkpoints);
  EXPECT_EQ(state_.recent, (std::vector<Index>{2, 3, 4}));
  EXPECT_EQ(state_.best.updates, std::vector<Index>{2});
  EXPECT_EQ(state_.since_better, 2);
  EXPECT_EQ(model_value(), 2);
  go_to(5);
  checkpoints.keep(state_, {{5}, 26, 1});
  for (Index update = 1; update <= 5; ++update) EXPECT_EQ(is_kept(update), update >= 2) << update;
  EXPECT_EQ(checkpoints.last_saved(), 5);
}

TEST_F(CheckpointsTest, TheModelIsTheBestOfTheBestOneAndTheMeansOfTheLast) {
  for (const bool mean_is_better : {false, true}) {
    Checkpoints checkpoints = this->checkpoints();
    state_ = {};
    keep_four(checkpoints);
    std::vector<float> tried;
    checkpoints.finish(state_, {}, [&] {
      tried.push_back(parameters_[0].var.value().at<float>({0}));
      return ValidationScore{.loss = 1, .bleu = mean_is_better && tried.back() == 3 ? 40.0 : 5.0};
    });
    EXPECT_EQ(tried, (std::vector<float>{3.5, 3}));  // of 3 and 4, and of 2, 3 and 4
    EXPECT_EQ(model_value(), mean_is_better ? 3 : 2);
    EXPECT_EQ(state_.model.bleu, mean_is_better ? 40 : 30);
    EXPECT_EQ(parameters_[0].var.value().at<float>({0}), 4);  // the run's own stay
  }
}

TEST_F(CheckpointsTest, AValidationAtTheEndCountsForTheModelAndNotForTheRun) {
  Checkpoints checkpoints = this->checkpoints();
  keep_four(checkpoints);
  go_to(6);
  checkpoints.finish(state_, Candidate{{6}, 50, 1}, [] { return ValidationScore{.loss = 1, .bleu = 5}; });
  EXPECT_EQ(model_value(), 6);
  EXPECT_FALSE(is_kept(6));
  fill(parameters_[0].var.value(), 0);
  const TrainingState resumed = this->checkpoints().resume();
  EXPECT_TRUE(resumed.finished);
  EXPECT_EQ(resumed.update, 6);
  EXPECT_EQ(resumed.recent, (std::vector<Index>{2, 3, 4}));
  EXPECT_EQ(resumed.best.updates, std::vector<Index>{2});
  EXPECT_EQ(parameters_[0].var.value().at<float>({0}), 6);
}

}  // namespace
}  // namespace heed
