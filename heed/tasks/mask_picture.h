// Pictures of what no model is needed for: masks and sparse patterns.
//
//   save_picture(draw_heatmap(mask_heatmap("causal + window(radius=4)", 24)), "mask.pdf");
#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/viz/heatmap.h"

namespace heed {

// Which of `length` keys each of as many queries may attend to: 1 or 0 for each pair. The terms are the masks of
// attention's notation (heed/layers/attention_choice.h), joined by "+", and causal. The subtitle tells how many pairs
// are allowed. Throws heed::Error for another term, none, and a length outside [1, 2000].
Heatmap mask_heatmap(std::string_view terms, Index length);

// The names of the masks that it knows: "causal, window, ...".
std::string mask_names();

}  // namespace heed
