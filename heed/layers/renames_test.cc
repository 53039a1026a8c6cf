#include "heed/layers/renames.h"

#include <gtest/gtest.h>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

TEST(Renames, ANameThatNoRuleFitsStays) {
  const Renames none, one{{"encoder.norm", "model.norm"}};
  for (const char* name : {"encoder.layers.0.norm1.weight", "encoder", "encoder.norms.weight", "a..b", ""}) {
    EXPECT_EQ(none(name), name);
    EXPECT_EQ(one(name), name);
  }
}

TEST(Renames, ARuleTakesThePlaceOfWholeElements) {
  const Renames renames{{"embedding", "model.shared"}, {"decoder.layers", "layers"}};
  EXPECT_EQ(renames("embedding.weight"), "model.shared.weight");
  EXPECT_EQ(renames("embedding"), "model.shared");
  EXPECT_EQ(renames("decoder.layers.2.norm1.bias"), "layers.2.norm1.bias");
  EXPECT_EQ(renames("embeddings.weight"), "embeddings.weight");
}

TEST(Renames, StarsStandForOneElementEach) {
  const Renames renames{{"*.layers.*.self_attn", "model.*.block.*.attention"}, {"*.norm", "final_norm"}};
  EXPECT_EQ(renames("encoder.layers.11.self_attn.out_proj.bias"), "model.encoder.block.11.attention.out_proj.bias");
  EXPECT_EQ(renames("encoder.layers.self_attn.bias"), "encoder.layers.self_attn.bias");
  EXPECT_EQ(renames("decoder.norm.weight"), "final_norm.weight");
}

TEST(Renames, TheFirstRuleThatFitsHolds) {
  const Renames renames{{"encoder.layers.0", "first"}, {"encoder", "rest"}};
  EXPECT_EQ(renames("encoder.layers.0.norm1.weight"), "first.norm1.weight");
  EXPECT_EQ(renames("encoder.layers.1.norm1.weight"), "rest.layers.1.norm1.weight");
}

TEST(Renames, AStarThatStandsForNothingIsRefused) {
  EXPECT_EQ(testing::refusal([] {
              const Renames renames{{"encoder.*", "a.*.b.*"}};
            }),
            "Renames: a.*.b.* has more * than encoder.*, which it takes the place of");
}

}  // namespace
}  // namespace heed
