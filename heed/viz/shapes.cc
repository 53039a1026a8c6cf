#include "heed/viz/shapes.h"

#include <cstring>
#include <new>
#include <numbers>

#include "heed/base/check.h"
#include "heed/viz/cairo_handles.h"

namespace heed {
namespace {

constexpr Index kLargestShapes = 4096;

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  HEED_CHECK(status == CAIRO_STATUS_SUCCESS, "draw_shapes: Cairo says: {}", cairo_status_to_string(status));
}

void set_colour(cairo_t* context, const Colour& colour) {
  cairo_set_source_rgb(context, colour.red, colour.green, colour.blue);
}

void trace_ellipse(cairo_t* context, const Box& box) {
  cairo_save(context);
  cairo_translate(context, box.x + box.width / 2, box.y + box.height / 2);
  cairo_scale(context, box.width / 2, box.height / 2);
  cairo_arc(context, 0, 0, 1, 0, 2 * std::numbers::pi);
  cairo_restore(context);
}

Image pixels_of(cairo_surface_t* surface, Index height, Index width) {
  cairo_surface_flush(surface);
  const unsigned char* rows = cairo_image_surface_get_data(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  Image image{height, width, {}};
  image.pixels.reserve(static_cast<std::size_t>(height * width * 3));
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      std::uint32_t packed = 0;
      std::memcpy(&packed, rows + y * stride + x * 4, sizeof packed);
      for (int shift : {16, 8, 0}) image.pixels.push_back(static_cast<std::uint8_t>(packed >> shift & 0xFF));
    }
  }
  return image;
}

}  // namespace

Image draw_shapes(Index height, Index width, const Colour& ground, std::span<const FilledShape> shapes) {
  HEED_CHECK(height >= 1 && width >= 1 && height <= kLargestShapes && width <= kLargestShapes,
             "draw_shapes: extents must lie in [1, {}], but are {} x {}", kLargestShapes, width, height);
  const CairoSurface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  check(cairo_surface_status(surface.get()));
  const CairoContext context(cairo_create(surface.get()));
  set_colour(context.get(), ground);
  cairo_paint(context.get());
  for (const FilledShape& shape : shapes) {
    set_colour(context.get(), shape.colour);
    cairo_new_path(context.get());
    if (shape.ellipse) trace_ellipse(context.get(), *shape.ellipse);
    for (const Point& corner : shape.corners) cairo_line_to(context.get(), corner.x, corner.y);
    cairo_close_path(context.get());
    cairo_fill(context.get());
  }
  check(cairo_status(context.get()));
  return pixels_of(surface.get(), height, width);
}

}  // namespace heed
