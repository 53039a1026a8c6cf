#include "heed/pretrained/generation_tokens.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

using Ids = std::vector<std::int32_t>;

FamilyModel read(std::string_view text, Index encoder_layers) {
  FamilyModel model;
  model.config.encoder_layers = encoder_layers;
  model.ends = {2};
  read_generation_tokens(Json::parse(text, "generation_config.json"), model);
  return model;
}

TEST(GenerationTokens, SayHowATextBeginsAndEndsAndWhatItNeverHas) {
  const std::string_view text =
      R"({"eos_token_id": [7, 9], "forced_bos_token_id": 3, "suppress_tokens": [-1, 5], "bad_words_ids": [[6], [1, 2]]})";
  const FamilyModel model = read(text, 0);
  EXPECT_EQ(model.ends, (Ids{7, 9}));
  EXPECT_EQ(model.first, 3);
  EXPECT_EQ(model.never, (Ids{5, 6}));
  EXPECT_EQ(read(text, 2).ends, Ids{2}) << "a translation ends with the end that it was taught";
}

TEST(GenerationTokens, WhatIsLeftOutStays) {
  const FamilyModel model = read("{}", 0);
  EXPECT_EQ(model.ends, Ids{2});
  EXPECT_EQ(model.first, -1);
  EXPECT_TRUE(model.never.empty());
}

}  // namespace
}  // namespace heed
