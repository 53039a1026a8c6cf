// The classic picture of attention: target tokens down the side, source tokens along the top, cells shaded by weight.
//
//   const AttentionTrace trace = read_trace("trace.json");
//   const Heatmap map = attention_heatmap(trace, trace.maps.back(), {.heads = {.mean = false}});
//   save_picture(draw_heatmap(map), "map.svg");   // or draw_lines(map); attention_figure.h chooses among them
#pragma once

#include <string>
#include <string_view>

#include "heed/base/index.h"
#include "heed/observe/trace.h"
#include "heed/viz/head_choice.h"
#include "heed/viz/heatmap.h"
#include "heed/viz/picture.h"

namespace heed {

struct AttentionPictureOptions {
  HeadChoice heads{};    // their mean, or side by side under one scale
  double scale_end = 0;  // the weight of the darkest cell; 0: round_scale of the largest weight shown
  FigureStyle style{};   // its title in place of "Cross-attention · layer 3 · mean of 8 heads"
};

// What a picture of one map shows, as in figure 3 of Bahdanau et al. 2015, "Neural machine translation by jointly
// learning to align and translate": queries down the side, keys along the top, a panel for the mean of the heads or for
// each of them. The description tells for each query what it reads most. Throws heed::Error for a map whose shape is
// not its tokens', a head that it does not have, and a map without cells.
Heatmap attention_heatmap(const AttentionTrace& trace, const AttentionTrace::Map& map,
                          const AttentionPictureOptions& options = {});

// The token as labels show it: the U+2581 that SentencePiece writes for a space is "_", which every font draws finely.
std::string readable_token(std::string_view token);

}  // namespace heed
