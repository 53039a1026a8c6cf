#include "heed/pretrained/rotary_notation.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/pretrained/small_config_test.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(RotaryNotation, RotaryScalingsAreTermsOfTheChoice) {
  const auto attention = [](Json scaling) {
    return describe_model(llama({{"rope_theta", 5e5}, {"rope_scaling", std::move(scaling)}})).config.attention.text();
  };
  EXPECT_EQ(attention(nullptr), "rotary(base=500000, width=8)");
  EXPECT_EQ(attention(Json::object({{"type", "linear"}, {"factor", 4}})),
            "rotary_linear(factor=4, base=500000, width=8)");
  EXPECT_EQ(attention(Json::object({{"rope_type", "llama3"},
                                    {"factor", 32},
                                    {"low_freq_factor", 1},
                                    {"high_freq_factor", 4},
                                    {"original_max_position_embeddings", 4096}})),
            "rotary_llama3(factor=32, original_length=4096, base=500000, width=8)");
  EXPECT_EQ(refusal([&] {
              attention(Json::object({{"rope_type", "xpos"}, {"factor", 2}}));
            }),
            "JSON: rope_scaling.rope_type: must be a rotary scaling that heed has (default, dynamic, linear, llama3, "
            "yarn, longrope), but "
            "is \"xpos\"");
}

TEST(RotaryNotation, RotaryPositionsAreReadFromEitherPlace) {
  EXPECT_EQ(attention_of(llama(
                {{"rope_parameters", Json::object({{"rope_type", "linear"}, {"factor", 3}, {"rope_theta", 5e5}})}})),
            "rotary_linear(factor=3, base=500000, width=8)");
  EXPECT_EQ(attention_of(of_type("gpt_neox")), "rotary(width=2)");
  EXPECT_EQ(attention_of(of_type("gpt_neox", {{"rotary_pct", 0.5}, {"rotary_emb_base", 5e5}})),
            "rotary(base=500000, width=4)");
  EXPECT_EQ(attention_of(of_type("gpt_neox", {{"rope_parameters",
                                               Json::object({{"partial_rotary_factor", 1.0}, {"rope_theta", 5e5}})}})),
            "rotary(base=500000, width=8)");
}

TEST(RotaryNotation, ARotaryBaseThatIsNoneIsRefusedByItsPlace) {
  for (const double base : {0.0, 1.0, -2.5}) {
    const std::string rule = fmt::format(": must be above 1, but is {}", base);
    const auto refused = [](const Json& config) { return refusal([&] { attention_of(config); }); };
    EXPECT_EQ(refused(llama({{"rope_theta", base}})), "JSON: rope_theta" + rule);
    EXPECT_EQ(refused(llama({{"rope_parameters", Json::object({{"rope_theta", base}})}})),
              "JSON: rope_parameters.rope_theta" + rule);
    EXPECT_EQ(refused(of_type("gpt_neox", {{"rotary_emb_base", base}})), "JSON: rotary_emb_base" + rule);
  }
}

TEST(RotaryNotation, DynamicPositionsArePlainAndEnd) {
  const FamilyModel dynamic =
      describe_model(llama({{"rope_scaling", Json::object({{"type", "dynamic"}, {"factor", 2}})}}));
  EXPECT_EQ(dynamic.config.attention.text(), "rotary(width=8)");
  EXPECT_TRUE(dynamic.ends_at_max_length);
  EXPECT_FALSE(describe_model(llama()).ends_at_max_length);
}

TEST(RotaryNotation, LongRopeHasTheAnglesOfTextsOfItsOriginalLengthAndEndsThere) {
  const auto phi = [](std::vector<double> factors, std::vector<Json::Member> more = {}) {
    Json scaling = Json::object({{"type", "longrope"}, {"short_factor", Json::array_of(factors)}});
    for (const auto& [name, value] : more) scaling.set(name, value);
    return of_type("phi3", {{"original_max_position_embeddings", 16}, {"rope_scaling", scaling}});
  };
  const FamilyModel model = describe_model(phi({1, 1.5, 4, 8}));
  EXPECT_EQ(model.config.max_length, 16);
  EXPECT_TRUE(model.ends_at_max_length);
  const Index longest = describe_model(llama()).config.max_length;
  EXPECT_EQ(model.config.attention.text(),
            fmt::format("rotary_longrope(attention_factor={}, width=8, factors=1:1.5:4:8)",
                        std::sqrt(1 + std::log(static_cast<double>(longest) / 16) / std::log(16))));
  EXPECT_EQ(attention_of(phi({1, 2, 3, 4}, {{"attention_factor", 1.25}, {"type", "su"}})),
            "rotary_longrope(attention_factor=1.25, width=8, factors=1:2:3:4)");
  EXPECT_EQ(refusal([&] {
              attention_of(phi({1, 2, 3}));
            }),
            "JSON: rope_scaling.short_factor: must have a factor for each of 4 pairs, but is an array of 3");
  EXPECT_NE(refusal([&] {
              attention_of(phi({1, 2, 3, 4}, {{"original_max_position_embeddings", 1}}));
            }).find("JSON: rope_scaling: must be of a model that was trained on 2 positions or more"),
            std::string::npos);
  EXPECT_EQ(refusal([&] {
              attention_of(phi({1, 2, 0, 3}));
            }),
            "JSON: rope_scaling.short_factor[2]: must be above 0, but is 0");
}

TEST(RotaryNotation, YarnsAttentionFactorIsOfItsMagnitudes) {
  const auto yarn = [](std::vector<Json::Member> more) {
    Json scaling = Json::object({{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 64}});
    for (const auto& [name, value] : more) scaling.set(name, value);
    return attention_of(llama({{"rope_scaling", scaling}}));
  };
  EXPECT_EQ(yarn({{"mscale", 1.0}, {"mscale_all_dim", 1.0}}),
            "rotary_yarn(original_length=64, attention_factor=1, width=8)");
  EXPECT_EQ(yarn({{"attention_factor", 1.5}}), "rotary_yarn(original_length=64, attention_factor=1.5, width=8)");
  EXPECT_EQ(yarn({{"factor", 1e300}, {"attention_factor", 1.5}}),
            "rotary_yarn(factor=1e+300, original_length=64, attention_factor=1.5, width=8)");
  EXPECT_EQ(yarn({{"factor", nullptr}, {"original_max_position_embeddings", 16}}),
            yarn({{"original_max_position_embeddings", 16}}));
  EXPECT_EQ(refusal([&] {
              yarn({{"truncate", false}});
            }),
            "JSON: rope_scaling.truncate: heed has models with true alone, but is false");
}

// Hugging Face's classes compute with such a factor, and copy `type` over `rope_type`.
TEST(RotaryNotation, AFactorBelowOneIsComputedAndAnEarlierNameOfTheScalingCounts) {
  const auto scaled = [](const char* type, double factor, std::vector<Json::Member> more = {}) {
    Json scaling = Json::object({{"rope_type", type}, {"factor", factor}, {"original_max_position_embeddings", 64}});
    scaling.set("low_freq_factor", 1), scaling.set("high_freq_factor", 4);
    for (const auto& [name, value] : more) scaling.set(name, value);
    return attention_of(llama({{"rope_scaling", scaling}}));
  };
  EXPECT_EQ(scaled("linear", 0.5), "rotary_linear(factor=0.5, width=8)");
  EXPECT_EQ(scaled("llama3", 0.5), "rotary_llama3(factor=0.5, original_length=64, width=8)");
  EXPECT_EQ(scaled("yarn", 0.5), "rotary_yarn(factor=0.5, original_length=64, attention_factor=1, width=8)");
  EXPECT_EQ(scaled("llama3", 3, {{"type", "linear"}}), "rotary_linear(factor=3, width=8)");
}

TEST(RotaryNotation, Phi3sYarnIsLongRopeOfTheClasssLength) {
  const auto phi = [](std::vector<Json::Member> more) {
    Json scaling = Json::object({{"short_factor", Json::array_of(std::vector<double>{1, 2, 3, 4})}});
    for (const auto& [name, value] : more) scaling.set(name, value);
    return describe_model(of_type("phi3", {{"max_position_embeddings", 131072}, {"rope_scaling", scaling}})).config;
  };
  EXPECT_EQ(phi({{"type", "yarn"}}).max_length, 4096);
  EXPECT_EQ(phi({{"type", "yarn"}}).attention.text(), phi({{"type", "longrope"}}).attention.text());
  EXPECT_EQ(phi({{"rope_type", "longrope"}, {"original_max_position_embeddings", 16}}).max_length, 16);
}

}  // namespace
}  // namespace heed
