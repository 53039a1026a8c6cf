#include "heed/pretrained/generation_tokens.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

using Ids = std::vector<std::int32_t>;

FamilyModel read(std::string_view text, Index encoder_layers, GenerationFile file = GenerationFile::generation) {
  FamilyModel model;
  model.config.encoder_layers = encoder_layers;
  model.begin = 4;
  model.ends = {2};
  model.first = 8;
  model.last = 2;
  read_generation_tokens(Json::parse(text, "generation_config.json"), file, model);
  return model;
}

TEST(GenerationTokens, SayHowATextBeginsAndEndsAndWhatItNeverHas) {
  const std::string_view text =
      R"({"eos_token_id": [7, 9], "forced_bos_token_id": 3, "suppress_tokens": [-1, 5],
          "bad_words_ids": [[6], [1, 2], [9]], "decoder_start_token_id": 11, "forced_eos_token_id": [12, 9],
          "begin_suppress_tokens": [1]})";
  for (const Index encoder_layers : {0, 2}) {
    const FamilyModel model = read(text, encoder_layers);
    EXPECT_EQ(model.ends, (Ids{7, 9}));
    EXPECT_EQ(model.first, 3);
    EXPECT_EQ(model.last, 9);
    EXPECT_EQ(model.never, (Ids{5, 6})) << "an end may come though it is a bad word";
    EXPECT_EQ(model.never_first, Ids{1});
    EXPECT_EQ(model.begin, encoder_layers > 0 ? 11 : 4);
  }
}

TEST(GenerationTokens, AFileOfItsOwnLeavesNothingToTheModels) {
  const FamilyModel model = read("{}", 2);
  EXPECT_TRUE(model.ends.empty());
  EXPECT_EQ(model.first, -1);
  EXPECT_EQ(model.last, -1);
  EXPECT_EQ(model.begin, 4);
  EXPECT_EQ(read(R"({"bos_token_id": 6})", 2).begin, 6);
}

TEST(GenerationTokens, WhatTheModelsFileLeavesOutIsTheClasss) {
  const FamilyModel model = read(R"({"bos_token_id": 6})", 2, GenerationFile::config);
  EXPECT_EQ(model.ends, Ids{2});
  EXPECT_EQ(model.first, 8);
  EXPECT_EQ(model.last, 2);
  EXPECT_EQ(model.begin, 4);
  EXPECT_EQ(read(R"({"forced_eos_token_id": null})", 2, GenerationFile::config).last, -1);
  EXPECT_EQ(generation_file(Json::parse(R"({"_from_model_config": true})", "f")), GenerationFile::config);
  EXPECT_EQ(generation_file(Json::parse("{}", "f")), GenerationFile::generation);
}

}  // namespace
}  // namespace heed
