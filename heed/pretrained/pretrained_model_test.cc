#include "heed/pretrained/pretrained_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/json.h"
#include "heed/testing/data_folder.h"

namespace heed {
namespace {

TEST(PretrainedModel, ATextEndsWithWhatGenerationConfigSays) {
  HEED_DATA_OR_SKIP(theirs, "models/llama-stories260k-hf");
  const std::filesystem::path folder = ::testing::TempDir() + "heed_generation_config";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* name : {"config.json", "model.safetensors"}) {
    std::filesystem::copy_file(theirs / name, folder / name);
  }
  EXPECT_EQ(describe_pretrained(folder).ends, std::vector<std::int32_t>{2});
  const auto ends = [&](const Json& generation) {
    write_json(folder / "generation_config.json", generation);
    return describe_pretrained(folder).ends;
  };
  EXPECT_EQ(ends(Json::object({{"eos_token_id", Json::array_of(std::vector<Index>{7, 9})}})),
            (std::vector<std::int32_t>{7, 9}));
  EXPECT_TRUE(ends(Json::object({{"bos_token_id", 1}})).empty()) << "config.json is not asked then";
  EXPECT_EQ(ends(Json::object({{"_from_model_config", true}, {"bos_token_id", 1}})), std::vector<std::int32_t>{2});
}

TEST(PretrainedModel, AStoryOfLlama2cEndsWhereTheNextOneBegins) {
  HEED_DATA_OR_SKIP(story, "models/stories260K/stories260K.bin");
  EXPECT_EQ(describe_pretrained(story).ends, (std::vector<std::int32_t>{2, 1}));
}

}  // namespace
}  // namespace heed
