// The parameters of a Transformer: their names and shapes, listed as they are drawn.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "heed/models/small_transformers_test.h"
#include "heed/models/transformer.h"

namespace heed {
namespace {

using testing::small_config;
using testing::variants;

TEST(Transformer, ParametersHaveTheNamesOfAPyTorchStateDict) {
  TransformerConfig config = small_config();
  config.decoder_layers = 1;
  config.share_embeddings = config.tie_output = false;
  config.positions = PositionKind::learned;
  ListedParameters listed;
  const Transformer model(listed, config);
  constexpr bool kWeight = true;
  const auto attention = [](const std::string& path) {
    return std::vector<ParameterShape>{{path + ".in_proj_weight", {24, 8}, kWeight},
                                       {path + ".in_proj_bias", {24}},
                                       {path + ".out_proj.weight", {8, 8}, kWeight},
                                       {path + ".out_proj.bias", {8}}};
  };
  std::vector<ParameterShape> expected{{"source_embedding.weight", {11, 8}, kWeight},
                                       {"target_embedding.weight", {11, 8}, kWeight},
                                       {"source_positions.weight", {12, 8}},
                                       {"target_positions.weight", {12, 8}}};
  const auto append = [&](const std::vector<ParameterShape>& more) {
    expected.insert(expected.end(), more.begin(), more.end());
  };
  const auto append_rest_of_layer = [&](const std::string& path, int norms) {
    append({{path + ".linear1.weight", {10, 8}, kWeight},
            {path + ".linear1.bias", {10}},
            {path + ".linear2.weight", {8, 10}, kWeight},
            {path + ".linear2.bias", {8}}});
    for (int norm = 1; norm <= norms; ++norm) {
      const std::string name = path + ".norm" + std::to_string(norm);
      append({{name + ".weight", {8}}, {name + ".bias", {8}}});
    }
  };
  append(attention("encoder.layers.0.self_attn"));
  append_rest_of_layer("encoder.layers.0", 2);
  append(attention("decoder.layers.0.self_attn"));
  append(attention("decoder.layers.0.multihead_attn"));
  append_rest_of_layer("decoder.layers.0", 3);
  append({{"encoder.norm.weight", {8}}, {"encoder.norm.bias", {8}}});
  append({{"decoder.norm.weight", {8}}, {"decoder.norm.bias", {8}}});
  append({{"generator.weight", {11, 8}, kWeight}});
  EXPECT_EQ(listed.shapes(), expected);
}

TEST(Transformer, ListsTheParametersThatItDraws) {
  for (const auto& [name, config] : variants()) {
    ListedParameters listed;
    DrawnParameters drawn(Rng(1));
    const Transformer of_no_use(listed, config), model(drawn, config);
    EXPECT_EQ(listed.shapes(), drawn.shapes()) << name;
    EXPECT_EQ(drawn.list().size(), drawn.shapes().size()) << name;
  }
}

// Petabytes, had they to be made: tables of positions too.
TEST(Transformer, ListsTheParametersOfAModelThatNoMachineHolds) {
  for (const PositionKind positions : {PositionKind::sinusoidal, PositionKind::learned}) {
    TransformerConfig config = small_config();
    config.width = config.ffn_width = config.source_vocabulary = config.target_vocabulary = Index{1} << 24;
    config.encoder_layers = config.decoder_layers = 1024;
    config.max_length = 1 << 16;
    config.positions = positions;
    ListedParameters listed;
    const Transformer of_no_use(listed, config);
    const std::vector<Index> table{Index{1} << 24, Index{1} << 24};
    EXPECT_EQ(listed.shapes().front().shape, table);
    EXPECT_GT(listed.shapes().size(), 30u * 1024);
  }
}

}  // namespace
}  // namespace heed
