#include "heed/pretrained/family.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "heed/io/fields.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/transformer.h"
#include "heed/pretrained/name_pattern.h"
#include "heed/pretrained/small_config_test.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

TEST(Family, EveryParameterOfItsModelHasARule) {
  for (const auto& [type, more] : std::vector<std::pair<std::string, std::vector<Json::Member>>>{
           {"llama", {}},
           {"llama", {{"attention_bias", true}, {"mlp_bias", true}}},
           {"mistral", {{"sliding_window", 8}}},
           {"qwen2", {}},
           {"qwen3", {{"head_dim", 16}}},
           {"gemma", {}},
           {"gemma3_text", {}},
           {"phi", {}},
           {"phi", {{"qk_layernorm", true}}},
           {"phi3", {}},
           {"opt", {{"ffn_dim", 64}, {"word_embed_proj_dim", 16}}},
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

// --- What Hugging Face's classes have where a configuration leaves it out --------------------------------------------

TEST(Family, ActivationsHaveHuggingFacesNames) {
  EXPECT_EQ(describe_model(llama({{"hidden_act", "quick_gelu"}})).config.activation, Activation::gelu_sigmoid);
  EXPECT_EQ(describe_model(llama({{"hidden_act", "mish"}})).config.activation, Activation::mish);
}

TEST(Family, AnEpsilonThatIsLeftOutIsTheClasss) {
  EXPECT_EQ(describe_model(of_type("phi3")).config.norm_epsilon, 1e-5);
  EXPECT_EQ(describe_model(llama()).config.norm_epsilon, 1e-6);
}

TEST(Family, FieldsThatTheClassDoesNotReadMeanNothing) {
  const auto biases = [](const char* type) {
    const TransformerConfig c = describe_model(of_type(type, {{"attention_bias", true}, {"mlp_bias", true}})).config;
    return std::tuple(c.attention_bias, c.attention_out_bias, c.ffn_bias);
  };
  EXPECT_EQ(biases("llama"), std::tuple(true, true, true));
  for (const char* type : {"qwen3", "gemma", "gemma2", "gemma3_text"}) {
    EXPECT_EQ(biases(type), std::tuple(true, true, false)) << type;
  }
  for (const char* type : {"mistral", "phi3"}) EXPECT_EQ(biases(type), std::tuple(false, false, false)) << type;
  EXPECT_EQ(biases("qwen2"), std::tuple(true, false, false));
  const auto activation = [](const char* type, std::vector<Json::Member> more) {
    return describe_model(of_type(type, std::move(more))).config.activation;
  };
  for (const char* type : {"gemma2", "gemma3_text"}) {
    EXPECT_EQ(activation(type, {{"hidden_act", "silu"}}), Activation::gelu_tanh) << type;
    EXPECT_EQ(activation(type, {{"hidden_act", "unheard"}, {"hidden_activation", "gelu"}}), Activation::gelu) << type;
  }
  EXPECT_EQ(activation("gemma", {{"hidden_act", "silu"}}), Activation::silu);
}

TEST(Family, ALanguageModelsLabelsAreReadWhereItIsAClassifier) {
  const auto labels = [](const char* architecture) {
    return describe_model(
               llama({{"architectures", Json::array({architecture})}, {"id2label", Json::object({{"7", "seven"}})}}))
        .heads->labels;
  };
  EXPECT_TRUE(labels("LlamaForCausalLM").empty());
  EXPECT_NE(refusal([&] { labels("LlamaForSequenceClassification"); }).find("id2label"), std::string::npos);
}

TEST(Family, AnOptWhoseLayersEndInANormHasNoOtherBehindThem) {
  const auto has_norm = [](bool before, bool removed = false) {
    const FamilyModel model = describe_model(
        of_type("opt", {{"ffn_dim", 64}, {"do_layer_norm_before", before}, {"_remove_final_layer_norm", removed}}));
    return std::ranges::any_of(model.rules, [](const TensorRule& rule) { return rule.parameter == "decoder.norm"; });
  };
  EXPECT_TRUE(has_norm(true));
  EXPECT_FALSE(has_norm(false)) << "whatever its file has";
  EXPECT_FALSE(has_norm(true, true)) << "of one that lost it";
  EXPECT_FALSE(has_norm(false, true));
}

TEST(Family, AWindowThatIsLeftOutIsTheClasss) {
  EXPECT_EQ(attention_of(of_type("mistral")), "rotary(width=8) + window(radius=4095)");
  EXPECT_EQ(attention_of(of_type("mistral", {{"sliding_window", nullptr}})), "rotary(width=8)");
  EXPECT_EQ(attention_of(of_type("qwen2", {{"sliding_window", 4}})), "rotary(width=8)");
}

TEST(Family, QwensLaterLayersHaveTheWindow) {
  const auto qwen = [](std::vector<Json::Member> more) {
    more.insert(more.begin(), {{"use_sliding_window", true}, {"sliding_window", 4}});
    return describe_model(of_type("qwen2", std::move(more))).config;
  };
  EXPECT_EQ(qwen({}).attention.text(), "rotary(width=8)") << "the first 28 have none";
  EXPECT_EQ(qwen({{"max_window_layers", 0}}).attention.text(), "rotary(width=8) + window(radius=3)");
  const TransformerConfig mixed = qwen({{"max_window_layers", 1}});
  EXPECT_TRUE(mixed.alternate);
  EXPECT_EQ(mixed.attention.text(), "rotary(width=8)");
  EXPECT_EQ(mixed.alternate_attention.text(), "rotary(width=8) + window(radius=3)");
  const Json types = Json::array_of(std::vector<std::string>{"sliding_attention", "full_attention"});
  EXPECT_EQ(qwen({{"layer_types", types}}).attention.text(), "rotary(width=8) + window(radius=3)");
  EXPECT_TRUE(mixed.alternate_layers.empty()) << "every other one";
  const TransformerConfig later = qwen({{"num_hidden_layers", 4}, {"max_window_layers", 1}});
  EXPECT_EQ(later.alternate_layers, (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(later.block(true, 0).self_attention.text(), "rotary(width=8)");
  EXPECT_EQ(later.block(true, 2).self_attention.text(), "rotary(width=8) + window(radius=3)");
}

TEST(Family, Gemma2HasItsCapsAndWindowUnlessTheyAreNull) {
  const TransformerConfig left_out = describe_model(of_type("gemma2")).config;
  EXPECT_EQ(left_out.attention.text(), "dot(scale=0.0625) + rotary(width=256) + soft_cap + window(radius=4095)");
  EXPECT_EQ(left_out.alternate_attention.text(), "dot(scale=0.0625) + rotary(width=256) + soft_cap");
  EXPECT_EQ(left_out.logit_soft_cap, 30);
  EXPECT_TRUE(left_out.tie_output);
  const TransformerConfig none = describe_model(of_type("gemma2", {{"attn_logit_softcapping", nullptr},
                                                                   {"final_logit_softcapping", nullptr},
                                                                   {"sliding_window", nullptr}}))
                                     .config;
  EXPECT_EQ(none.attention.text(), "dot(scale=0.0625) + rotary(width=256)");
  EXPECT_FALSE(none.alternate);
  EXPECT_EQ(none.logit_soft_cap, 0);
}

TEST(Family, Gemma3sWindowsTurnByABaseOfTheirOwn) {
  const auto layers = [](std::vector<Json::Member> more) {
    more.insert(more.begin(), {{"sliding_window", 4}, {"sliding_window_pattern", 2}});
    const TransformerConfig c = describe_model(of_type("gemma3_text", std::move(more))).config;
    EXPECT_TRUE(c.query_key_norm);
    return std::pair(c.block(true, 0).self_attention.text(), c.block(true, 1).self_attention.text());
  };
  const std::string head = "dot(scale=0.0625) + ";
  const std::pair expected(head + "rotary(width=256) + window(radius=3)", head + "rotary(base=1000000, width=256)");
  EXPECT_EQ(layers({}), expected);
  EXPECT_EQ(layers({{"rope_theta", 5e5}, {"rope_scaling", Json::object({{"rope_type", "linear"}, {"factor", 8}})}}),
            std::pair(expected.first, head + "rotary_linear(factor=8, base=500000, width=256)"));
  const auto turned = [](double base) { return Json::object({{"rope_type", "default"}, {"rope_theta", base}}); };
  const auto apart = [&](Json full, Json sliding) {
    return layers({{"rope_parameters",
                    Json::object({{"full_attention", std::move(full)}, {"sliding_attention", std::move(sliding)}})}});
  };
  EXPECT_EQ(apart(turned(1e6), turned(1e4)), expected);
  EXPECT_EQ(apart(Json::object(), Json::object()), expected);  // the class's own bases
  EXPECT_EQ(layers({{"rope_local_base_freq", 5e5}}).first, head + "rotary(base=500000, width=256) + window(radius=3)");
  EXPECT_EQ(refusal([&] {
              layers({{"rope_local_base_freq", 0.0}});
            }),
            "JSON: rope_local_base_freq: must be above 1, but is 0");
  Json without_length = of_type("gemma3_text");
  without_length.set("max_position_embeddings", nullptr);
  EXPECT_EQ(describe_model(without_length).config.max_length, 131072);
}

TEST(Family, GptNeosLayersAreOfTheKindsThatItLists) {
  const auto neo = [](const char* types) {
    Json config = of_type("gpt_neo", {{"num_layers", 2}, {"num_heads", 4}, {"window_size", 4}});
    config.set("attention_types", Json::parse(types, "types"));
    return describe_model(config).config;
  };
  EXPECT_EQ(neo(R"([[["global", "local"], 1]])").alternate_attention.text(), "dot + window(radius=3)");
  EXPECT_EQ(neo(R"([[["global"], 2]])").attention.text(), "dot");
  for (const char* wrong : {R"([[["global"], 1]])", R"([[["sparse"], 2]])", R"([[["global"], 2], [["local"], 2]])"}) {
    EXPECT_NE(refusal([&] { neo(wrong); }), "no error") << wrong;
  }
}

TEST(Family, ATextsEndIsTheClasss) {
  EXPECT_EQ(describe_model(llama()).ends, std::vector<std::int32_t>{2});
  EXPECT_EQ(describe_model(of_type("gemma")).ends, std::vector<std::int32_t>{1});
  EXPECT_EQ(describe_model(of_type("qwen2")).ends, std::vector<std::int32_t>{});
  EXPECT_EQ(describe_model(llama({{"eos_token_id", nullptr}})).ends, std::vector<std::int32_t>{});
  EXPECT_EQ(describe_model(llama({{"eos_token_id", -1}})).ends, std::vector<std::int32_t>{});
  EXPECT_EQ(describe_model(llama({{"eos_token_id", Json::array({nullptr, 7, -1, 9})}})).ends,
            (std::vector<std::int32_t>{7, 9}));
}

TEST(Family, AnMt5IsGatedAndHasItsOwnOutputAndAUmt5HasNone) {
  const auto described = [](const char* type, std::vector<Json::Member> more = {}) {
    Json config = Json::object({{"model_type", type},
                                {"vocab_size", 100},
                                {"d_model", 32},
                                {"d_kv", 8},
                                {"d_ff", 64},
                                {"num_heads", 4},
                                {"num_layers", 2}});
    for (const auto& [name, value] : more) config.set(name, value);
    return describe_model(config).config;
  };
  EXPECT_FALSE(described("t5").gated);
  EXPECT_TRUE(described("t5").tie_output);
  EXPECT_TRUE(described("mt5").gated);
  EXPECT_EQ(described("mt5").activation, Activation::gelu_tanh);
  EXPECT_FALSE(described("mt5").tie_output);
  const TransformerConfig newer = described("t5", {{"tie_word_embeddings", true}, {"scale_decoder_outputs", false}});
  EXPECT_FALSE(newer.tie_output) << "the output is the file's, where it has one";
  EXPECT_EQ(newer.logit_scale, 1);
  EXPECT_EQ(described("t5", {{"scale_decoder_outputs", true}}).logit_scale, described("t5").logit_scale);
  EXPECT_EQ(to_json(described("mt5")),
            to_json(described("t5", {{"feed_forward_proj", "gated-gelu"}, {"tie_word_embeddings", false}})));
  EXPECT_EQ(to_json(described("umt5")), to_json(described("t5", {{"feed_forward_proj", "gated-gelu"}})));
}

TEST(Family, WhatAnM2M100LeavesOutIsTheClasssAndNotBarts) {
  const auto described = [](const char* type, std::vector<Json::Member> more = {}) {
    Json config = Json::object({{"model_type", type},
                                {"vocab_size", 100},
                                {"d_model", 16},
                                {"encoder_attention_heads", 2},
                                {"decoder_attention_heads", 2},
                                {"encoder_ffn_dim", 32},
                                {"decoder_ffn_dim", 32},
                                {"encoder_layers", 1},
                                {"decoder_layers", 1},
                                {"max_position_embeddings", 20}});
    for (const auto& [name, value] : more) config.set(name, value);
    return describe_model(config);
  };
  const TransformerConfig m2m = described("m2m_100").config, bart = described("bart").config;
  EXPECT_EQ(m2m.activation, Activation::relu);
  EXPECT_EQ(bart.activation, Activation::gelu);
  EXPECT_EQ(m2m.embedding_scale, 0);  // the root of the width
  EXPECT_EQ(bart.embedding_scale, 1);
  EXPECT_EQ(described("m2m_100", {{"scale_embedding", false}}).config.embedding_scale, 1);
  EXPECT_EQ(described("pegasus").begin, 0);
  EXPECT_EQ(described("bart").begin, 2);
  EXPECT_EQ(described("bart").last, 2);
  EXPECT_EQ(described("mbart").last, 2);
  EXPECT_EQ(described("marian").last, 0);
  EXPECT_EQ(described("pegasus").last, 1);
  EXPECT_EQ(described("m2m_100").last, -1);
  const auto table_of = [&](const char* type) {
    const std::vector<TensorRule> rules = described(type).rules;
    return std::ranges::find(rules, "target_positions.weight", &TensorRule::parameter)->tensors;
  };
  const std::vector<std::string> stored{"model.decoder.embed_positions.weight"};
  EXPECT_EQ(table_of("marian"), stored);
  EXPECT_EQ(table_of("pegasus"), stored);
  EXPECT_TRUE(table_of("m2m_100").empty()) << "which is no parameter there";
  for (const char* type : {"marian", "pegasus", "m2m_100"}) {
    EXPECT_EQ(refusal([&] {
                described(type, {{"max_position_embeddings", 1 << 24}});
              }),
              "JSON: max_position_embeddings: must be at most 65536, but is 16777216");
  }
}

TEST(Family, AHeadTurnsInWholeOrInAShare) {
  for (const auto& names : {std::pair("gpt_neox", "rotary_pct"), {"phi", "partial_rotary_factor"}}) {
    const char *const type = names.first, *const field = names.second;
    for (const double wrong : {-0.5, 0.0, 1.5, 1e308}) {
      EXPECT_NE(refusal([&] {
                  describe_model(of_type(type, {{field, wrong}}));
                }).find(": must be above 0 and at most 1"),
                std::string::npos)
          << type << " " << wrong;
    }
    EXPECT_EQ(refusal([&] {
                describe_model(of_type(type, {{field, 0.1}}));
              }),
              fmt::format("JSON: {}: leaves no pair of a head's 8 features, but is 0.1", field));
  }
}

TEST(Family, RefusesWhatHeedDoesNotCompute) {
  EXPECT_EQ(refusal([] {
              describe_model(Json::object({{"model_type", "mamba"}}));
            }).substr(0, 35),
            "JSON: model_type: must be one of al");
  EXPECT_EQ(refusal([] {
              describe_model(llama({{"is_causal", false}}));
            }),
            "JSON: is_causal: heed has models with true alone, but is false");
  EXPECT_EQ(refusal([] {
              describe_model(llama({{"partial_rotary_factor", 0.5}}));
            }),
            "JSON: partial_rotary_factor: heed has models of this type with 1 alone, but is 0.5");
  EXPECT_EQ(refusal([] {
              const Json one = Json::object({{"rope_theta", 1e4}});
              describe_model(llama({{"rope_parameters", Json::object({{"full_attention", one}})}}));
            }).substr(0, 82),
            "JSON: rope_parameters.full_attention: heed has models whose layers all turn alike,");
  EXPECT_EQ(refusal([] {
              describe_model(llama({{"num_hidden_layers", 0}}));
            }),
            "JSON: num_hidden_layers: must be an integer from 1 to 1024, but is 0");
  EXPECT_EQ(refusal([] {
              describe_model(llama({{"hidden_act", "laplace"}}));
            }),
            "JSON: hidden_act: must be an activation that heed has (gelu, gelu_new, gelu_pytorch_tanh, quick_gelu, "
            "relu, leaky_relu, relu6, silu, mish, tanh, sigmoid, linear), but is \"laplace\"");
}

// What Hugging Face's classes have where config.json says nothing.
TEST(Family, EncodersHaveTheirClassesExtentsWhereNoneAreGiven) {
  struct Extents {
    const char* type;
    Index words, width, layers, heads, network, length;
  };
  for (const Extents& wanted : {Extents{"bert", 30522, 768, 12, 12, 3072, 512},
                                {"roberta", 50265, 768, 12, 12, 3072, 510},  // behind the padding's
                                {"camembert", 30522, 768, 12, 12, 3072, 510},
                                {"xlm-roberta", 30522, 768, 12, 12, 3072, 510},
                                {"electra", 30522, 256, 12, 4, 1024, 512},
                                {"albert", 30000, 4096, 12, 64, 16384, 512},
                                {"mpnet", 30527, 768, 12, 12, 3072, 510},
                                {"distilbert", 30522, 768, 6, 12, 3072, 512},
                                {"vit", 1, 768, 12, 12, 3072, 197},
                                {"deit", 1, 768, 12, 12, 3072, 198}}) {
    const TransformerConfig c = describe_model(Json::object({{"model_type", wanted.type}})).config;
    EXPECT_EQ(c.source_vocabulary, wanted.words) << wanted.type;
    EXPECT_EQ(c.width, wanted.width) << wanted.type;
    EXPECT_EQ(c.encoder_layers, wanted.layers) << wanted.type;
    EXPECT_EQ(c.heads, wanted.heads) << wanted.type;
    EXPECT_EQ(c.ffn_width, wanted.network) << wanted.type;
    EXPECT_EQ(c.max_length, wanted.length) << wanted.type;
  }
}

TEST(Family, MPNetSortsDistancesIntoThirtyTwo) {
  const auto describe = [](Index buckets) {
    return describe_model(Json::object({{"model_type", "mpnet"}, {"relative_attention_num_buckets", buckets}}));
  };
  EXPECT_EQ(describe(64).config.attention.text(), describe(32).config.attention.text());
  EXPECT_EQ(refusal([&] { describe(16); }),
            "JSON: relative_attention_num_buckets: must be at least 32, which distances are sorted into, but is 16");
}

}  // namespace
}  // namespace heed
