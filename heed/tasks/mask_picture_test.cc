#include "heed/tasks/mask_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace heed {
namespace {

double allowed(const Heatmap& map) {
  double pairs = 0;
  for (float value : map.panels[0].values) pairs += static_cast<double>(value);
  return pairs;
}

TEST(MaskPicture, HasOneWhereAQueryMayAttend) {
  const Heatmap map = mask_heatmap("causal + window(radius=2)", 7);
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 7; ++j) {
      const float expected = j <= i && i - j <= 2 ? 1 : 0;
      EXPECT_EQ(map.panels[0].values[static_cast<std::size_t>(i * 7 + j)], expected) << i << " " << j;
    }
  }
  EXPECT_EQ(map.title, "causal + window(radius=2)");
  EXPECT_EQ(map.subtitle, "18 of 49 pairs, 36.7 %");
  EXPECT_FALSE(map.scale);
}

TEST(MaskPicture, KnowsEverySparsePattern) {
  EXPECT_EQ(allowed(mask_heatmap("causal", 5)), 15);
  for (const std::string pattern : {"strided(4)", "fixed(4)", "longformer(1)", "bigbird(block=4)"}) {
    const Heatmap open = mask_heatmap(pattern, 24), causal = mask_heatmap(pattern + "+causal", 24);
    EXPECT_GT(allowed(open), 24) << pattern;
    EXPECT_LT(allowed(causal), allowed(open)) << pattern;
    EXPECT_LT(allowed(open), 24 * 24) << pattern;
    EXPECT_GT(draw_heatmap(causal).width, 100);
  }
}

TEST(MaskPicture, RefusesWhatIsNoMask) {
  for (const char* terms : {"", "cosine", "window + alibi", "causal + sparsemax", "no", "window(-1)", "+", "causal +",
                            "+ causal", "causal + + window"}) {
    EXPECT_THROW(mask_heatmap(terms, 8), Error) << terms;
  }
  EXPECT_THROW(mask_heatmap("causal", 0), Error);
  EXPECT_THROW(mask_heatmap("causal", 2001), Error);
}

}  // namespace
}  // namespace heed
