#include "heed/pretrained/family.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/layers/listed_parameters.h"
#include "heed/models/transformer.h"
#include "heed/pretrained/name_pattern.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

Json llama(std::vector<Json::Member> more = {}) {
  Json config = Json::object({{"model_type", "llama"},
                              {"vocab_size", 100},
                              {"hidden_size", 32},
                              {"intermediate_size", 64},
                              {"num_hidden_layers", 2},
                              {"num_attention_heads", 4},
                              {"num_key_value_heads", 2},
                              {"max_position_embeddings", 64}});
  for (const auto& [name, value] : more) config.set(name, value);
  return config;
}

TEST(Family, EveryParameterOfItsModelHasARule) {
  for (const auto& [type, more] : std::vector<std::pair<std::string, std::vector<Json::Member>>>{
           {"llama", {}},
           {"llama", {{"attention_bias", true}, {"mlp_bias", true}}},
           {"mistral", {{"sliding_window", 8}}},
           {"qwen2", {}},
           {"qwen3", {{"head_dim", 16}}},
           {"gemma", {}},
           {"gemma2", {{"sliding_window", 8}, {"attn_logit_softcapping", 50}, {"final_logit_softcapping", 30}}}}) {
    Json config = llama(more);
    config.set("model_type", type);
    const FamilyModel model = describe_model(config);
    ListedParameters listed;
    Transformer(listed, model.config);
    for (const ParameterShape& parameter : listed.shapes()) {
      EXPECT_TRUE(std::ranges::any_of(model.rules,
                                      [&](const TensorRule& rule) {
                                        std::vector<std::string> stars;
                                        return begins_name(rule.parameter, parameter.name, stars).has_value();
                                      }))
          << type << ": " << parameter.name;
    }
  }
}

TEST(Family, RotaryScalingsAreTermsOfTheChoice) {
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
  EXPECT_EQ(
      refusal([&] {
        attention(Json::object({{"rope_type", "longrope"}, {"factor", 2}}));
      }),
      "JSON: rope_scaling.rope_type: must be a rotary scaling that heed has (default, linear, llama3, yarn), but is "
      "\"longrope\"");
}

TEST(Family, RefusesWhatHeedDoesNotCompute) {
  EXPECT_EQ(refusal([] {
              describe_model(Json::object({{"model_type", "mamba"}}));
            }).substr(0, 35),
            "JSON: model_type: must be one of al");
  EXPECT_EQ(refusal([] {
              Json config = llama({{"use_sliding_window", true}});
              config.set("model_type", "qwen2");
              describe_model(config);
            }),
            "JSON: use_sliding_window: heed has models with false alone, but is true");
  EXPECT_EQ(refusal([] {
              describe_model(llama({{"num_hidden_layers", 0}}));
            }),
            "JSON: num_hidden_layers: must be an integer from 1 to 16777216, but is 0");
  EXPECT_EQ(refusal([] {
              describe_model(llama({{"hidden_act", "mish"}}));
            }),
            "JSON: hidden_act: must be an activation that heed has (gelu, gelu_new, gelu_pytorch_tanh, relu, silu, "
            "tanh), but is \"mish\"");
}

}  // namespace
}  // namespace heed
