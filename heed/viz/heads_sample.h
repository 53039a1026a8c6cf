// A heat map of two heads, for tests of pictures.
#pragma once

#include "heed/viz/heatmap.h"

namespace heed {

// Two heads over three words: the first reads its own word, the second spreads.
inline Heatmap heads_sample() {
  return {.title = "Heads",
          .row_title = "queries",
          .column_title = "keys",
          .row_labels = {"it", "was", "tired"},
          .column_labels = {"the", "animal", "it"},
          .panels = {{"head 4", {0, 0, 1, 0, 1, 0, 1, 0, 0}},
                     {"head 7", {0.5F, 0.25F, 0.25F, 0.01F, 0.5F, 0.49F, 0.25F, 0.5F, 0.25F}}}};
}

}  // namespace heed
