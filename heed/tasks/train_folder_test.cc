// A run's folder: what of somebody else's is in it stays as it is, and one run at a time has it.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/tasks/train.h"
#include "heed/tasks/train_test.h"

namespace heed {
namespace {

using testing::names_in;
using testing::TrainTest;

TEST_F(TrainTest, OnlyItsOwnFilesAreRemoved) {
  run("model", 8);
  const std::filesystem::path training = folder_ / "model" / "training";
  for (const char* name : {"parameters-best.safetensors", "parameters-007.safetensors", "parameters-7.safetensors.bak"})
    write_file(training / name, "precious");
  write_file(training / "parameters-1.safetensors", "left by a kill");
  options_.rate = 0.5;
  EXPECT_NE(refusal("model", 12), "no error");
  EXPECT_TRUE(file_exists(training / "parameters-1.safetensors"));  // a run that is refused touches nothing
  options_.rate = 0.003;
  run("model", 16);
  EXPECT_FALSE(file_exists(training / "parameters-1.safetensors"));
  for (const char* name : {"parameters-best.safetensors", "parameters-007.safetensors", "parameters-7.safetensors.bak"})
    EXPECT_EQ(read_file(training / name), "precious");
}

TEST_F(TrainTest, AFolderWithSomebodyElsesFilesIsRefused) {
  for (const char* name : {"vocabulary.spm", "source.vocab.txt", "target.spm", "config.json", "metrics.jsonl"}) {
    const std::filesystem::path folder = folder_ / ("with." + std::string(name));
    make_folder(folder);
    write_file(folder / name, "precious");
    EXPECT_NE(refusal(folder.filename().string(), 2).find("is not of a training run"), std::string::npos) << name;
    EXPECT_EQ(names_in(folder), std::vector<std::string>{name});
    EXPECT_EQ(read_file(folder / name), "precious");
  }
}

TEST_F(TrainTest, AFolderWithAModelThatWasNotTrainedThereIsNotOverwritten) {
  make_folder(folder_ / "other");
  write_file(folder_ / "other" / "model.safetensors", "precious");
  EXPECT_NE(refusal("other", 2).find("is there already, and is not of a training run"), std::string::npos);
  EXPECT_EQ(model_bytes("other"), "precious");
}

TEST_F(TrainTest, TwoRunsInOneFolderAreRefused) {
  struct Second : TrainingMonitor {
    void on_update(const UpdateReport&) override { message = start(); }
    std::function<std::string()> start;
    std::string message;
  } second;
  second.start = [this] { return refusal("model", 4); };
  train(paths("model"), options_, {.max_updates = 1}, second, stop_);
  EXPECT_NE(second.message.find("another process is at work"), std::string::npos) << second.message;
}

}  // namespace
}  // namespace heed
