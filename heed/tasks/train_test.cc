// What a run trains, when it ends, and the model that it leaves.
#include "heed/tasks/train.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/train_test.h"
#include "heed/tasks/training_task.h"
#include "heed/tasks/translate.h"

namespace heed {
namespace {

using testing::Interrupter;
using testing::Listener;
using testing::TrainTest;

TEST_F(TrainTest, LeavesAModelThatTranslates) {
  const TrainingResult result = run("model", 6);
  EXPECT_EQ(result.stop, TrainingStop::max_updates);
  EXPECT_EQ(result.updates, 6);
  const ModelFolder model = load_model_folder(folder_ / "model");
  Translator translator(model);
  const auto translations = translator.translate(read_text_lines(folder_ / "test.de"), {.beam = 2, .best = 2});
  ASSERT_EQ(translations.size(), 8u);
  for (const auto& best : translations) EXPECT_EQ(best.size(), 2u);
}

TEST_F(TrainTest, TheModelIsTheBestOfTheCheckpointsAndTheirMeans) {
  options_.average = 4;
  options_.warmup = 4;              // the first checkpoints are so bad that any mean with them is
  for (Index updates : {16, 18}) {  // with and without a validation at the very end
    Listener listener;
    const std::string name = "model" + std::to_string(updates);
    const TrainingResult result = train(paths(name), options_, {.max_updates = updates}, listener, stop_);
    ASSERT_EQ(listener.tried.size(), (updates == 16 ? 4u : 5u) + 3u);
    for (const Candidate& other : listener.tried) EXPECT_FALSE(better(other, result.model)) << describe(other);
    // The mean of all four is worse than the last one: shipping it would be a loss.
    EXPECT_TRUE(better(result.model, listener.tried.back()));
    // The folder holds what the result speaks of.
    const ModelFolder model = load_model_folder(folder_ / name);
    Workspace workspace;
    const ValidationScore score =
        make_training_task(paths(name), options_, nullptr, monitor_)->measure(*model.model, workspace);
    EXPECT_EQ(score.bleu, result.model.bleu);
    EXPECT_EQ(score.loss, result.model.loss);
  }
}

TEST_F(TrainTest, ARunThatIsLeftHasTheBestModelThatItHasSeen) {
  Interrupter interrupter(stop_, 10);
  train(paths("left"), options_, {.max_updates = 40}, interrupter, stop_);
  stop_ = false;
  Listener listener;
  train(paths("whole"), options_, {.max_updates = 8}, listener, stop_);
  ASSERT_TRUE(better(listener.tried[1], listener.tried[0]));  // update 8 is better than 4
  const std::string kept = read_file(folder_ / "whole" / "training" / "parameters-8.safetensors");
  EXPECT_EQ(model_bytes("left"), kept);
}

TEST_F(TrainTest, TheSameBitsForAnyThreadCount) {
  const int before = thread_count();
  set_thread_count(1);
  run("one", 5);
  set_thread_count(3);
  run("three", 5);
  set_thread_count(before);
  EXPECT_EQ(model_bytes("one"), model_bytes("three"));
}

TEST_F(TrainTest, AccumulationAndSeedMatter) {
  run("one", 3);
  options_.accumulate = 2;
  run("two", 3);
  options_.accumulate = 1;
  options_.seed = 2;
  run("seed", 3);
  EXPECT_NE(model_bytes("one"), model_bytes("two"));
  EXPECT_NE(model_bytes("one"), model_bytes("seed"));
}

TEST_F(TrainTest, PatienceStopsARunThatGetsNoBetter) {
  options_.rate = 1e-12;  // nothing is learned
  const TrainingResult result = train(paths("model"), options_, {.max_updates = 400, .patience = 2}, monitor_, stop_);
  EXPECT_EQ(result.stop, TrainingStop::patience);
  EXPECT_EQ(result.updates, 12);  // a first validation, and two that are no better
}

TEST_F(TrainTest, ALossThatIsNotFiniteNamesTheUpdateAndKeepsTheCheckpoint) {
  run("model", 4);
  const std::string state = read_file(folder_ / "model" / "training" / "state.safetensors");
  options_.rate = 1e30;
  options_.clip = 0;
  options_.warmup = 0;
  const std::string message = refusal("broken", 50);
  EXPECT_NE(message.find("train: at update "), std::string::npos) << message;
  EXPECT_NE(message.find("nothing was saved before"), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "model" / "training" / "state.safetensors"), state);
}

}  // namespace
}  // namespace heed
