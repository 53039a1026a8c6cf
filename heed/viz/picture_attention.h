// What a model looks at in a picture, drawn over it.
//
//   const Picture picture = draw_picture_attention(image, {{"layer 11 · mean of 12 heads", 14, 14, weights}});
//   save_picture(picture, "map.svg");
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/image/image.h"
#include "heed/observe/trace.h"
#include "heed/viz/picture.h"

namespace heed {

// The weights of a picture's patches, row by row.
struct PatchMap {
  std::string title{};
  Index rows = 0, columns = 0;
  std::vector<double> weights{};
};

inline constexpr Index kMostPatchMaps = 256;  // in one picture

// What one query attends to among the patches in a map of a valid trace with a grid: in one head, or the mean of all.
// Throws heed::Error where the trace's source has no grid, and for a query or a head that the map does not have.
PatchMap patch_map(const AttentionTrace& trace, const AttentionTrace::Map& map, std::optional<Index> head,
                   Index query = 0);

// What each word of the target, special tokens aside, attends to: the mean over its pieces of patch_map.
// Throws heed::Error as patch_map does, and for more than kMostPatchMaps words.
std::vector<PatchMap> word_patch_maps(const AttentionTrace& trace, const AttentionTrace::Map& map,
                                      std::optional<Index> head);

// The picture of a trace. Throws heed::Error where it has none, or a broken one.
Image trace_image(const AttentionTrace& trace);

// The picture, and beside it once for each map the picture in grey under that map's colours: from dark for nothing to
// bright for the largest weight of all maps, smooth from the middle of a patch to the next one's. The description tells
// for each map where it looks most. Throws heed::Error for a picture or a map without extent, more than kMostPatchMaps
// maps, and for weights that are not as many as patches, negative or not finite.
Picture draw_picture_attention(const Image& image, std::span<const PatchMap> maps, const std::string& title);

}  // namespace heed
