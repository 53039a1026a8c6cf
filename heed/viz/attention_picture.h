// The classic picture of attention: target tokens down the side, source tokens along the top, cells shaded by weight.
//
//   const AttentionTrace trace = read_trace("trace.json");
//   save_picture(draw_attention(trace, trace.maps.back(), {.heads = HeadChoice::grid}), "map.svg");
#pragma once

#include <string>
#include <string_view>

#include "heed/base/index.h"
#include "heed/observe/trace.h"
#include "heed/viz/picture.h"

namespace heed {

enum class HeadChoice { mean, one, grid };

struct AttentionPictureOptions {
  HeadChoice heads = HeadChoice::mean;  // the mean of the heads, one of them, or all side by side under one scale
  Index head = 0;                       // which, for HeadChoice::one
  double scale_end = 0;                 // the weight of the darkest cell; 0: round_scale of the largest weight shown
  std::string title{};                  // empty: "Cross-attention · layer 3 · mean of 8 heads"
};

// Draws one map of the trace as in figure 3 of Bahdanau et al. 2015, "Neural machine translation by jointly learning to
// align and translate": queries down the side, keys along the top. The description tells for each query what it reads
// most. Throws heed::Error for a map whose shape is not its tokens', a head that it does not have, a map without cells,
// and what draw_heatmap refuses.
Picture draw_attention(const AttentionTrace& trace, const AttentionTrace::Map& map,
                       const AttentionPictureOptions& options = {});

// The token as labels show it: the U+2581 that SentencePiece writes for a space is "_", which every font draws finely.
std::string readable_token(std::string_view token);

}  // namespace heed
