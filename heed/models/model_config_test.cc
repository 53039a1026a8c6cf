#include "heed/models/model_config.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/small_transformers_test.h"

namespace heed {
namespace {

using testing::small_config;
using testing::variants;

TEST(ModelConfig, SurvivesJson) {
  ModelConfig config;
  config.transformer = small_config();
  config.transformer.positions = PositionKind::learned;
  const Json json = to_json(config);
  EXPECT_EQ(to_json(model_config_from_json(Json::parse(json.dump(2)))), json);
}

TEST(ModelConfig, KeepsEverySelfAttention) {
  for (const auto& [name, chosen] : variants()) {
    ModelConfig config;
    config.transformer = chosen;
    const ModelConfig read = model_config_from_json(to_json(config));
    EXPECT_EQ(to_json(read), to_json(config)) << name;
    ListedParameters listed, expected;
    make_model(listed, read);
    make_model(expected, config);
    EXPECT_EQ(listed.shapes(), expected.shapes()) << name;
  }
}

// Folders that earlier versions wrote: of the first, and of one with kinds of self-attention.
TEST(ModelConfig, OfEarlierVersionsIsReadAsWhatItWas) {
  ModelConfig config;
  config.transformer = small_config();
  config.transformer.norm_place = NormPlace::post;
  Json earlier = Json::object({{"norm_first", false}});
  for (const auto& [name, value] : to_json(config)["config"].members()) {
    const bool later = name == "kv_heads" || name == "norm" || name == "norm_place" || name == "gated" ||
                       name == "attention" || name == "cross_attention";
    if (!later) earlier.set(name == "ffn_width" ? "hidden" : name, value);
  }
  const auto read = [&] {
    return to_json(model_config_from_json(Json::object({{"model", "transformer"}, {"config", earlier}})));
  };
  EXPECT_EQ(read(), to_json(config));
  for (const char* name : {"attention_window", "attention_stride", "attention_block", "attention_summary",
                           "attention_global", "attention_random"}) {
    earlier.set(name, 3);
  }
  earlier.set("key_value_heads", 1);
  config.transformer.kv_heads = 1;
  for (const auto& [kind, attention] : std::map<std::string, std::string>{{"softmax", "scaled_dot"},
                                                                          {"local", "window(3)"},
                                                                          {"strided", "strided(3)"},
                                                                          {"fixed", "fixed(3, 3)"},
                                                                          {"bigbird", "bigbird(3, 3, 3, 3)"},
                                                                          {"linear", "elu"}}) {
    earlier.set("attention", kind);
    config.transformer.attention = AttentionChoice(attention);
    EXPECT_EQ(read(), to_json(config)) << kind;
  }
  earlier.set("heads", Json());
  EXPECT_THROW(model_config_from_json(Json::object({{"model", "transformer"}, {"config", earlier}})), Error);
}

}  // namespace
}  // namespace heed
