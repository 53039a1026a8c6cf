// Filled shapes as pixels, where a picture is wanted and no file.
//
//   const Image image = draw_shapes(64, 64, white, {{.colour = red, .ellipse = Box{8, 8, 12, 12}}});
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heed/image/image.h"
#include "heed/viz/canvas.h"
#include "heed/viz/colour.h"

namespace heed {

// An ellipse that fills a box, or else the corners of a polygon, in pixels from the upper left.
struct FilledShape {
  Colour colour{};
  std::optional<Box> ellipse{};
  std::vector<Point> corners{};
};

// The shapes in turn, with smooth edges, on a ground. Throws heed::Error for extents that are not in [1, 4096].
Image draw_shapes(Index height, Index width, const Colour& ground, std::span<const FilledShape> shapes);

}  // namespace heed
