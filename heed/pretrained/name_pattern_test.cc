#include "heed/pretrained/name_pattern.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(NamePattern, BeginsANameElementByElement) {
  std::vector<std::string> stars;
  EXPECT_EQ(begins_name("layers.*.norm1", "layers.3.norm1.weight", stars), ".weight");
  EXPECT_EQ(stars, std::vector<std::string>{"3"});
  EXPECT_EQ(begins_name("layers.*.norm1", "layers.3.norm1", stars), "");
  EXPECT_EQ(begins_name("layers.*.*", "layers.3.norm1.weight", stars), ".weight");
  EXPECT_EQ(stars, (std::vector<std::string>{"3", "norm1"}));
  EXPECT_EQ(begins_name("layers.*.norm1", "layers.3.norm10.weight", stars), std::nullopt);
  EXPECT_EQ(begins_name("layers.*.norm1", "layers.3", stars), std::nullopt);
  EXPECT_EQ(begins_name("layers", "layer.3", stars), std::nullopt);
  EXPECT_EQ(begins_name("layers.*", "layers.", stars), std::nullopt);
}

TEST(NamePattern, FillsItsStarsInOrder) {
  const std::vector<std::string> stars{"3", "q"};
  EXPECT_EQ(fill_stars("h.*.attn.*_proj", stars), "h.3.attn.q_proj");
  EXPECT_EQ(fill_stars("encoder/layer_*/linear", stars), "encoder/layer_3/linear");
  EXPECT_EQ(fill_stars("shared", stars), "shared");
}

}  // namespace
}  // namespace heed
