// Saved states that no run goes on from: the refusal names the file and what is wrong with it.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>
#include <string>

#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/tasks/train_test.h"

namespace heed {
namespace {

using testing::TrainTest;

TEST_F(TrainTest, AStateThatIsNotFiniteIsRefusedByName) {
  run("model", 4);
  const std::filesystem::path state = folder_ / "model" / "training" / "state.safetensors";
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> sound = read_safetensors(state, &metadata);
  const std::string parameter = "encoder.layers.0.linear1.weight";
  for (const char* kind : {"value:", "first_moment:", "second_moment:"}) {
    std::map<std::string, ConstView> tensors;
    for (const auto& [name, tensor] : sound) tensors[name] = tensor.view();
    const Tensor spoiled = sound.at(kind + parameter).clone();
    spoiled.at<float>({1, 2}) = std::numeric_limits<float>::quiet_NaN();
    tensors[kind + parameter] = spoiled.view();
    write_safetensors(state, tensors, metadata);
    EXPECT_EQ(refusal("model", 8),
              state.string() + ": " + kind + parameter + ": every element must be finite, but element 18 is nan");
  }
}

TEST_F(TrainTest, AStateWithCountsThatNoRunReachesIsRefusedByName) {
  run("model", 4);
  const std::filesystem::path file = folder_ / "model" / "training" / "state.safetensors";
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(file, &metadata);
  const Json sound = Json::parse(metadata["state"]);
  for (const char* count : {"update", "epoch", "batch", "since_better"}) {
    for (const Index bad : {std::numeric_limits<Index>::max(), Index{-1}}) {
      Json state = sound;
      state.set(count, bad);
      write_safetensors(file, {tensors.begin(), tensors.end()}, {{"state", state.dump()}});
      const std::string error = refusal("model", 8);
      EXPECT_TRUE(error.starts_with(file.string() + ": " + count + ": must be an integer from 0 to ")) << error;
    }
  }
}

TEST_F(TrainTest, AStateOfAnOlderHeedIsRefused) {
  run("model", 4);
  const std::filesystem::path file = folder_ / "model" / "training" / "state.safetensors";
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(file, &metadata);
  Json state = Json::parse(metadata["state"]);
  state.set("rng_position", 96);
  write_safetensors(file, {tensors.begin(), tensors.end()}, {{"state", state.dump()}});
  EXPECT_EQ(refusal("model", 8), file.string() +
                                     ": was saved by an older heed, whose dropout nobody draws again: go on with that, "
                                     "or train anew in another folder");
}

}  // namespace
}  // namespace heed
