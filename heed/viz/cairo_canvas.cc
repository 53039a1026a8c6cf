#include <cairo-pdf.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <vector>

#include "heed/base/check.h"
#include "heed/viz/backends.h"
#include "heed/viz/cairo_handles.h"
#include "heed/viz/shaped_text.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

void check(cairo_status_t status, const char* what) {
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  HEED_CHECK(status == CAIRO_STATUS_SUCCESS, "render: {}: Cairo says: {}", what, cairo_status_to_string(status));
}

CairoContext make_context(cairo_surface_t* surface) {
  check(cairo_surface_status(surface), "making a surface");
  CairoContext context(cairo_create(surface));
  check(cairo_status(context.get()), "making a context");
  return context;
}

// The pixels as Cairo keeps them, which are copied.
CairoSurface surface_of(const Image& image) {
  CairoSurface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(image.width), static_cast<int>(image.height)));
  check(cairo_surface_status(surface.get()), "making a surface");
  cairo_surface_flush(surface.get());
  unsigned char* rows = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const std::uint8_t* pixel = image.at(y, x);
      const std::uint32_t packed = std::uint32_t{pixel[0]} << 16 | std::uint32_t{pixel[1]} << 8 | pixel[2];
      std::memcpy(rows + y * stride + x * 4, &packed, sizeof packed);
    }
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

class CairoCanvas final : public Canvas {
 public:
  explicit CairoCanvas(cairo_t* context) : context_(context) {}

  void fill(const Box& box, const Colour& colour, std::string_view) override {
    set_colour(colour);
    cairo_set_antialias(context_, CAIRO_ANTIALIAS_NONE);
    cairo_rectangle(context_, box.x, box.y, box.width, box.height);
    cairo_fill(context_);
    cairo_set_antialias(context_, CAIRO_ANTIALIAS_DEFAULT);
  }

  void outline(const Box& box, const Colour& colour, double width) override {
    set_colour(colour);
    cairo_set_line_width(context_, width);
    cairo_rectangle(context_, box.x, box.y, box.width, box.height);
    cairo_stroke(context_);
  }

  void image(const Box& box, const Image& image) override {
    const CairoSurface surface = surface_of(image);
    cairo_save(context_);
    cairo_translate(context_, box.x, box.y);
    cairo_scale(context_, box.width / static_cast<double>(image.width), box.height / static_cast<double>(image.height));
    cairo_set_source_surface(context_, surface.get(), 0, 0);
    cairo_pattern_set_extend(cairo_get_source(context_), CAIRO_EXTEND_PAD);
    cairo_rectangle(context_, 0, 0, static_cast<double>(image.width), static_cast<double>(image.height));
    cairo_fill(context_);
    cairo_restore(context_);
  }

  void line(Point from, Point to, const Colour& colour, double width) override {
    set_colour(colour);
    cairo_set_line_width(context_, width);
    cairo_move_to(context_, from.x, from.y);
    cairo_line_to(context_, to.x, to.y);
    cairo_stroke(context_);
  }

  void text(Point at, std::string_view text, const TextStyle& style) override {
    const ShapedText shaped(text, style);
    cairo_save(context_);
    set_colour(style.colour);
    cairo_translate(context_, at.x, at.y);
    cairo_rotate(context_, style.angle * std::numbers::pi / 180);
    cairo_move_to(context_, anchor_shift(style.anchor, shaped.width()), 0);
    shaped.draw(context_);
    cairo_restore(context_);
  }

 private:
  void set_colour(const Colour& colour) { cairo_set_source_rgb(context_, colour.red, colour.green, colour.blue); }

  cairo_t* context_;
};

// No exception may pass through Cairo's C.
cairo_status_t append_bytes(void* closure, const unsigned char* data, unsigned int length) {
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

// The checksum of a PNG's chunk (its specification, annex D).
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? 0xEDB88320U ^ (sum >> 1) : sum >> 1;
  }
  return ~sum;
}

// Cairo's PNG does not say how large its pixels are: this puts a chunk behind the header that does (pHYs).
void say_how_large(double pixels_per_point, std::string& png) {
  constexpr std::size_t kBehindHeader = 33;  // 8 bytes of signature and a chunk of 25
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255U);
    return bytes;
  };
  const std::string per_metre = number(static_cast<std::uint32_t>(std::lround(pixels_per_point * 72 / 0.0254)));
  const std::string chunk = "pHYs" + per_metre + per_metre + '\x01';
  png.insert(kBehindHeader, number(9) + chunk + number(crc32(chunk)));
}

void paint_on_white(const Picture& picture, cairo_t* context) {
  cairo_set_source_rgb(context, 1, 1, 1);
  cairo_paint(context);
  CairoCanvas canvas(context);
  picture.paint(canvas);
  check(cairo_status(context), "drawing");
}

}  // namespace

std::string render_png(const Picture& picture, double scale) {
  const auto pixels = [&](double side) { return std::max(1, static_cast<int>(std::ceil(side * scale - 1e-9))); };
  const CairoSurface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(picture.width), pixels(picture.height)));
  const CairoContext context = make_context(surface.get());
  cairo_scale(context.get(), scale, scale);
  paint_on_white(picture, context.get());
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes), "writing a PNG");
  say_how_large(scale, bytes);
  return bytes;
}

std::string render_pdf(const Picture& picture) {
  std::string bytes;
  const CairoSurface surface(cairo_pdf_surface_create_for_stream(append_bytes, &bytes, picture.width, picture.height));
  const CairoContext context = make_context(surface.get());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, visible_text(picture.title).c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_SUBJECT, visible_text(picture.description).c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "heed");
  // A date would make every run's file another one.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  paint_on_white(picture, context.get());
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()), "writing a PDF");
  return bytes;
}

}  // namespace heed
