#include "heed/viz/attention_figure.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/viz/attention_picture.h"
#include "heed/viz/find_word.h"
#include "heed/viz/lines_picture.h"
#include "heed/viz/picture_attention.h"
#include "heed/viz/reading_picture.h"

namespace heed {
namespace {

Picture over_picture(const AttentionTrace& trace, const AttentionTrace::Map& map, const AttentionFigure& figure) {
  HEED_CHECK(!figure.lines, "lines lead from words to words, and here the keys are a picture's patches");
  std::vector<PatchMap> patches;
  std::string title = map.kind == AttentionKind::cross ? trace.target.text : trace.source.text;
  if (figure.word) {
    patches = patch_maps(trace, map, figure.heads, find_word(trace.query_side(map.kind), *figure.word));
    title = fmt::format("What {} looks at", *figure.word);
  } else if (map.kind == AttentionKind::cross) {
    patches = word_patch_maps(trace, map, figure.heads);
  } else {
    patches = patch_maps(trace, map, figure.heads);
    if (title.empty()) title = "Attention to the patches of a picture";
  }
  return draw_picture_attention(trace_image(trace), patches, title, figure.style);
}

}  // namespace

Picture draw_figure(const AttentionTrace& trace, const AttentionTrace::Map& map, const AttentionFigure& figure) {
  if (!trace.image.empty() && trace.key_side(map.kind).grid) return over_picture(trace, map, figure);
  Heatmap shown = attention_heatmap(trace, map, {.heads = figure.heads, .style = figure.style});
  if (figure.word) return draw_reading(std::move(shown), find_word(trace.query_side(map.kind), *figure.word));
  return figure.lines ? draw_lines(std::move(shown)) : draw_heatmap(std::move(shown));
}

}  // namespace heed
