// Runs that ended and go on: to the same bits as one that never stopped.
#include <gtest/gtest.h>

#include <string>

#include "heed/tasks/train.h"
#include "heed/tasks/train_test.h"

namespace heed {
namespace {

using testing::Interrupter;
using testing::names_in;
using testing::TrainTest;

TEST_F(TrainTest, ARunThatStoppedBetweenValidationsGoesOnAsIfItHadNot) {
  run("stopped", 6);
  run("stopped", 12);
  run("straight", 12);
  EXPECT_EQ(model_bytes("stopped"), model_bytes("straight"));
  EXPECT_EQ(names_in(folder_ / "stopped" / "training"), names_in(folder_ / "straight" / "training"));
}

TEST_F(TrainTest, AnInterruptedRunContinuesToTheSameBits) {
  run("straight", 10);
  for (Index at : {1, 4, 7}) {  // before, at and after a validation
    stop_ = false;
    const std::string name = "interrupted" + std::to_string(at);
    Interrupter interrupter(stop_, at);
    const TrainingResult first = train(paths(name), options_, {.max_updates = 10}, interrupter, stop_);
    EXPECT_EQ(first.stop, TrainingStop::interrupted);
    EXPECT_EQ(first.updates, at);
    stop_ = false;
    run(name, 10);
    EXPECT_EQ(model_bytes(name), model_bytes("straight")) << at;
  }
}

TEST_F(TrainTest, AFinishedRunIsLeftAsItIsAndMayGoOnUnderAHigherLimit) {
  run("model", 4);
  const std::string bytes = model_bytes("model");
  EXPECT_EQ(run("model", 4).stop, TrainingStop::finished_before);
  EXPECT_EQ(model_bytes("model"), bytes);
  EXPECT_EQ(run("model", 8).updates, 8);
  run("straight", 8);
  EXPECT_EQ(model_bytes("model"), model_bytes("straight"));
}

}  // namespace
}  // namespace heed
