#include "heed/pretrained/gguf.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/io/gguf.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

constexpr std::uint32_t kFloatNumber = 6;  // GGUF's number for the type of a value

// What llama.cpp's files always say, and no more.
testing::GgufBytes bare(const std::string& architecture, std::uint32_t layers = 2) {
  testing::GgufBytes file;
  const auto set = [&](const char* name, std::uint32_t value) { file.integer(architecture + "." + name, value); };
  file.text("general.architecture", architecture);
  set("embedding_length", 32), set("feed_forward_length", 64), set("block_count", layers);
  set("attention.head_count", 4), set("context_length", 128);
  file.value(architecture + ".attention.layer_norm_rms_epsilon", kFloatNumber, testing::bytes_of(1e-5f));
  file.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<eot>"});
  return file;
}

FamilyModel described(const testing::GgufBytes& file) {
  return describe_gguf(parse_gguf(std::make_shared<MappedFile>(file.bytes(), "m.gguf")));
}

TEST(DescribeGguf, WhatIsLeftOutIsLlamaCppsAndNotTheClasss) {
  for (const char* architecture : {"llama", "phi3", "qwen2", "qwen3", "gemma", "gemma2", "gemma3"}) {
    const FamilyModel model = described(bare(architecture));
    EXPECT_EQ(model.config.head_width, 8) << architecture;
    EXPECT_EQ(model.config.kv_heads, 4) << architecture;
    EXPECT_TRUE(model.config.tie_output) << architecture;
    EXPECT_TRUE(model.ends.empty()) << architecture;
  }
}

TEST(DescribeGguf, AGpt2HasItsOwnEpsilonAndPositions) {
  testing::GgufBytes file = bare("gpt2");
  file.value("gpt2.attention.layer_norm_epsilon", kFloatNumber, testing::bytes_of(1e-4f));
  const FamilyModel model = described(file);
  EXPECT_EQ(model.config.positions, PositionKind::learned);
  EXPECT_EQ(model.config.max_length, 128);
  EXPECT_EQ(model.config.ffn_width, 64);
  EXPECT_NEAR(model.config.norm_epsilon, 1e-4, 1e-9);
}

TEST(DescribeGguf, ATextEndsWithTheFilesTokens) {
  testing::GgufBytes file = bare("llama");
  file.integer("tokenizer.ggml.eos_token_id", 2).integer("tokenizer.ggml.eot_token_id", 3);
  EXPECT_EQ(described(file).ends, (std::vector<std::int32_t>{2, 3}));
}

TEST(DescribeGguf, FrequenciesAreDividedByTheFilesFactorWhateverItsName) {
  const auto attention = [](const std::vector<std::pair<std::string, float>>& numbers, const std::string& type = "") {
    testing::GgufBytes file = bare("llama");
    for (const auto& [name, number] : numbers) {
      file.value("llama.rope." + name, kFloatNumber, testing::bytes_of(number));
    }
    if (!type.empty()) file.text("llama.rope.scaling.type", type);
    return described(file).config.attention.text();
  };
  const std::string plain = "rotary(width=8, interleaved=1)";
  const std::string linear = "rotary_linear(factor=4, width=8, interleaved=1)";
  EXPECT_EQ(attention({{"scaling.factor", 4}}), linear);
  EXPECT_EQ(attention({{"scale_linear", 4}}), linear);
  EXPECT_EQ(attention({{"scaling.factor", 4}}, "linear"), linear);
  EXPECT_EQ(attention({}, "linear"), plain);
  EXPECT_EQ(attention({{"scaling.factor", 0}}, "linear"), plain);
  EXPECT_EQ(attention({{"scaling.factor", 4}}, "none"), plain);
}

TEST(DescribeGguf, YarnHasTheFilesNumbers) {
  testing::GgufBytes file = bare("llama");
  file.text("llama.rope.scaling.type", "yarn").integer("llama.rope.scaling.original_context_length", 32);
  for (const auto& [name, number] : {std::pair("factor", 4.0f), {"yarn_beta_fast", 8.0f}, {"attn_factor", 2.0f}}) {
    file.value(std::string("llama.rope.scaling.") + name, kFloatNumber, testing::bytes_of(number));
  }
  EXPECT_EQ(described(file).config.attention.text(),
            "rotary_yarn(original_length=32, fast_turns=8, attention_factor=2.277258872223978, width=8, "
            "interleaved=1)");
}

TEST(DescribeGguf, ARotaryBaseThatIsNoneIsRefusedByItsKey) {
  const auto based = [](float base) {
    testing::GgufBytes file = bare("llama");
    file.value("llama.rope.freq_base", kFloatNumber, testing::bytes_of(base));
    return described(file).config.attention.text();
  };
  EXPECT_EQ(based(5e5f), "rotary(base=500000, width=8, interleaved=1)");
  EXPECT_EQ(testing::refusal([&] { based(1); }), "m.gguf: llama.rope.freq_base: must be above 1, but is 1");
}

TEST(DescribeGguf, NumbersThatAreNoneAreRefusedByTheirKeys) {
  const auto refused = [](const std::string& key, std::uint32_t number, const std::string& architecture = "llama") {
    testing::GgufBytes file;
    file.integer(architecture + "." + key, number);
    for (const char* other : {"embedding_length", "feed_forward_length", "block_count", "attention.head_count"}) {
      if (key != other) file.integer(architecture + "." + other, 4);
    }
    file.text("general.architecture", architecture).integer(architecture + ".context_length", 8);
    file.value(architecture + ".attention.layer_norm_rms_epsilon", kFloatNumber, testing::bytes_of(1e-5f));
    return testing::refusal([&] { described(file.texts("tokenizer.ggml.tokens", {"a"})); });
  };
  EXPECT_EQ(refused("block_count", 5000), "m.gguf: llama.block_count: must be an integer from 1 to 1024, but is 5000");
  EXPECT_EQ(refused("embedding_length", 0),
            "m.gguf: llama.embedding_length: must be an integer from 1 to 16777216, but is 0");
  EXPECT_EQ(refused("attention.sliding_window", 0, "gemma2"),
            "m.gguf: gemma2.attention.sliding_window: must be an integer from 1 to 16777216, but is 0");
  EXPECT_EQ(refused("expert_count", 8), "m.gguf: llama.expert_count: heed has models without experts alone, but is 8");
  EXPECT_EQ(refused("rope.freq_base_swa", 1, "gemma3"), "m.gguf: gemma3.rope.freq_base_swa: must be above 1, but is 1");
}

TEST(DescribeGguf, NumbersThatAreNotFiniteAreRefusedByTheirKeys) {
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    testing::GgufBytes file = bare("qwen2");
    file.value("qwen2.rope.freq_base", kFloatNumber, testing::bytes_of(number));
    EXPECT_EQ(testing::refusal([&] { described(file); }).substr(0, 46),
              "m.gguf: qwen2.rope.freq_base: must be finite, ");
    testing::GgufBytes other = bare("gpt2");
    other.value("gpt2.attention.layer_norm_epsilon", kFloatNumber, testing::bytes_of(number));
    EXPECT_EQ(testing::refusal([&] { described(other); }).substr(0, 57),
              "m.gguf: gpt2.attention.layer_norm_epsilon: must be finite");
  }
}

TEST(DescribeGguf, LongRopeWithoutItsFactorsIsRefused) {
  for (const std::string architecture : {"llama", "phi3"}) {
    testing::GgufBytes file = bare(architecture);
    file.text(architecture + ".rope.scaling.type", "longrope");
    EXPECT_EQ(testing::refusal([&] { described(file); }),
              "m.gguf: " + architecture + ".rope.scaling.type: heed reads its factors of Phi 3 alone, in " +
                  "rope_factors_short.weight, but is \"longrope\"");
  }
}

TEST(DescribeGguf, RefusesHeadsThatTurnInPart) {
  testing::GgufBytes file = bare("llama");
  EXPECT_EQ(described(file.integer("llama.rope.dimension_count", 8)).config.head_width, 8);
  testing::GgufBytes other = bare("llama");
  other.integer("llama.rope.dimension_count", 4);
  EXPECT_EQ(testing::refusal([&] { described(other); }),
            "m.gguf: llama.rope.dimension_count: heed has models of this type with a head's 8 alone, but is 4");
}

TEST(DescribeGguf, TheLargestGemmaScalesByAHeadsShareOfTheWidth) {
  const auto attention = [](const std::string& architecture, std::uint32_t layers) {
    testing::GgufBytes file = bare(architecture, layers);
    file.integer(architecture + ".attention.sliding_window", 4096);
    return described(file.integer(architecture + ".attention.key_length", 16)).config.attention.text();
  };
  const std::string largest = "dot(scale=0.35355339059327373)";
  EXPECT_EQ(attention("gemma2", 42), "dot(scale=0.25) + rotary(width=16) + soft_cap + window(radius=4095)");
  EXPECT_EQ(attention("gemma2", 46), largest + " + rotary(width=16) + soft_cap + window(radius=4095)");
  EXPECT_EQ(attention("gemma3", 48), "dot(scale=0.25) + rotary(width=16) + window(radius=4095)");
  EXPECT_EQ(attention("gemma3", 62), largest + " + rotary(width=16) + window(radius=4095)");
}

TEST(DescribeGguf, AGemma3WithoutAWindowHasLayersThatAreAllAlike) {
  for (const bool names_none : {false, true}) {
    testing::GgufBytes file = bare("gemma3");
    file.value("gemma3.rope.freq_base", kFloatNumber, testing::bytes_of(1e6f));
    if (names_none) file.integer("gemma3.attention.sliding_window", 0);
    const TransformerConfig config = described(file).config;
    EXPECT_FALSE(config.alternate);
    EXPECT_EQ(config.attention.text(), "dot(scale=0.35355339059327373) + rotary(base=1000000, width=8)");
  }
}

TEST(DescribeGguf, WhatSeesLaterTokensIsRefused) {
  const auto with = [](bool causal) {
    constexpr std::uint32_t kBool = 7;
    testing::GgufBytes file = bare("llama");
    return described(file.value("llama.attention.causal", kBool, std::string(1, causal ? '\1' : '\0')));
  };
  EXPECT_TRUE(with(true).config.causal);
  EXPECT_EQ(testing::refusal([&] { with(false); }),
            "m.gguf: llama.attention.causal: heed has models with true alone, but is false");
}

TEST(DescribeGguf, PhisHeadsMayTurnInPartAndAWindowOfNoKeysIsNone) {
  testing::GgufBytes file = bare("phi3");
  file.integer("phi3.rope.dimension_count", 6).integer("phi3.attention.sliding_window", 0);
  EXPECT_EQ(described(file).config.attention.text(), "rotary(width=6)");
  for (std::uint32_t turned = 2; turned <= 98; turned += 2) {
    testing::GgufBytes wide = bare("phi3");
    wide.integer("phi3.attention.key_length", 98).integer("phi3.rope.dimension_count", turned);
    EXPECT_EQ(described(wide).config.attention.text(), "rotary(width=" + std::to_string(turned) + ")");
  }
  testing::GgufBytes wider = bare("phi3");
  wider.integer("phi3.rope.dimension_count", 10);
  EXPECT_EQ(testing::refusal([&] { described(wider); }),
            "m.gguf: phi3.rope.dimension_count: must be at most the 8 features of a head, but is 10");
  EXPECT_EQ(described(bare("phi3").integer("phi3.attention.sliding_window", 5)).config.attention.text(),
            "rotary(width=8) + window(radius=4)");
}

}  // namespace
}  // namespace heed
