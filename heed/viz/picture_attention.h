// What a model looks at in a picture, drawn over it.
//
//   const Picture picture = draw_picture_attention(image, {{"layer 11 · mean of 12 heads", 14, 14, weights}});
//   save_picture(picture, "map.svg");
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/image/image.h"
#include "heed/observe/trace.h"
#include "heed/viz/figure_style.h"
#include "heed/viz/head_choice.h"
#include "heed/viz/picture.h"

namespace heed {

// The weights of a picture's patches, row by row.
struct PatchMap {
  std::string title{};
  Index rows = 0, columns = 0;
  std::vector<double> weights{};
};

inline constexpr Index kMostPatchMaps = 256;  // in one picture
inline constexpr Index kFirstQuery[] = {0};

// What some queries attend to among the patches in a map of a valid trace with a grid, as a mean over them: in the mean
// of the heads that are chosen, or in each of them. By default that is the first query: the class token, where there is
// one. Throws heed::Error where the map's keys have no grid, and for a query or a head that the map does not have.
std::vector<PatchMap> patch_maps(const AttentionTrace& trace, const AttentionTrace::Map& map,
                                 const HeadChoice& heads = {}, std::span<const Index> queries = kFirstQuery);

// What each word of the target, special tokens aside, attends to: patch_maps of its pieces, in one head or in a mean.
// Throws heed::Error for a choice of several heads side by side, and for more than kMostPatchMaps words.
std::vector<PatchMap> word_patch_maps(const AttentionTrace& trace, const AttentionTrace::Map& map,
                                      const HeadChoice& heads = {});

// The picture of a trace. Throws heed::Error where it has none, or a broken one.
Image trace_image(const AttentionTrace& trace);

// The picture, and beside it once for each map the picture in grey under that map's colours: from dark for nothing to
// bright for the largest weight of all maps, smooth from the middle of a patch to the next one's. The description tells
// for each map where it looks most. Where the style has a width the figure is that wide, with as many pictures side by
// side as can be labelled. Throws heed::Error for a picture or a map without extent, more than kMostPatchMaps maps,
// weights that are not as many as patches, negative or not finite, and for what check_style refuses.
Picture draw_picture_attention(const Image& image, std::span<const PatchMap> maps, const std::string& title,
                               const FigureStyle& style = {});

}  // namespace heed
