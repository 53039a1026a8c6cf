#include <cairo-pdf.h>
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <vector>

#include "heed/base/check.h"
#include "heed/viz/backends.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

struct Free {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
using Context = std::unique_ptr<cairo_t, Free>;
using Surface = std::unique_ptr<cairo_surface_t, Free>;
using FontOptions = std::unique_ptr<cairo_font_options_t, Free>;

void check(cairo_status_t status, const char* what) {
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  HEED_CHECK(status == CAIRO_STATUS_SUCCESS, "render: {}: Cairo says: {}", what, cairo_status_to_string(status));
}

// Letters keep their designed widths, so that a text is as wide on every canvas as it was measured.
Context make_context(cairo_surface_t* surface) {
  check(cairo_surface_status(surface), "making a surface");
  Context context(cairo_create(surface));
  const FontOptions options(cairo_font_options_create());
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(context.get(), options.get());
  check(cairo_status(context.get()), "making a context");
  return context;
}

// Tried in turn for each character; a family that is not installed is some other one, which does no harm.
constexpr std::array<const char*, 8> kFamilies = {"DejaVu Sans",      "Liberation Sans",    "Noto Sans CJK SC",
                                                  "Noto Color Emoji", "Noto Sans Symbols2", "Noto Sans Devanagari",
                                                  "Unifont",          "sans-serif"};

void choose_font(cairo_t* context, std::size_t family, const TextStyle& style) {
  cairo_select_font_face(context, kFamilies[family], CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, style.size);
}

bool font_has(cairo_t* context, std::string_view character) {
  cairo_glyph_t* glyphs = nullptr;
  int count = 0;
  const cairo_status_t status =
      cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(context), 0, 0, character.data(),
                                       static_cast<int>(character.size()), &glyphs, &count, nullptr, nullptr, nullptr);
  const bool has = status == CAIRO_STATUS_SUCCESS && count > 0 && glyphs[0].index != 0;
  cairo_glyph_free(glyphs);
  check(status, "choosing a font");
  return has;
}

struct Run {
  std::size_t family;
  std::string text;
};

// Cairo's own text calls use one font; this cuts visible text into runs that one font can draw.
std::vector<Run> split_by_font(cairo_t* context, const std::string& text, const TextStyle& style) {
  std::vector<Run> runs;
  for (std::string_view character : code_points(text)) {
    std::size_t family = 0;
    if (character.size() > 1) {  // every font has ASCII
      for (; family < kFamilies.size(); ++family) {
        choose_font(context, family, style);
        if (font_has(context, character)) break;
      }
      if (family == kFamilies.size()) family = 0;  // draws its box for what is missing
    }
    if (runs.empty() || runs.back().family != family) runs.push_back({family, {}});
    runs.back().text += character;
  }
  return runs;
}

double width_of(cairo_t* context, const std::vector<Run>& runs, const TextStyle& style) {
  double width = 0;
  for (const Run& run : runs) {
    choose_font(context, run.family, style);
    cairo_text_extents_t extents;
    cairo_text_extents(context, run.text.c_str(), &extents);
    width += extents.x_advance;
  }
  return width;
}

// The pixels as Cairo keeps them, which are copied.
Surface surface_of(const Image& image) {
  Surface surface(
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

double anchor_shift(TextAnchor anchor, double width) {
  return anchor == TextAnchor::start ? 0 : anchor == TextAnchor::middle ? -width / 2 : -width;
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
    const Surface surface = surface_of(image);
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
    const std::vector<Run> runs = split_by_font(context_, visible_text(text), style);
    cairo_save(context_);
    set_colour(style.colour);
    cairo_translate(context_, at.x, at.y);
    cairo_rotate(context_, style.angle * std::numbers::pi / 180);
    cairo_move_to(context_, anchor_shift(style.anchor, width_of(context_, runs, style)), 0);
    for (const Run& run : runs) {
      choose_font(context_, run.family, style);
      cairo_show_text(context_, run.text.c_str());  // leaves the pen at the end of the run
    }
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

void paint_on_white(const Picture& picture, cairo_t* context) {
  cairo_set_source_rgb(context, 1, 1, 1);
  cairo_paint(context);
  CairoCanvas canvas(context);
  picture.paint(canvas);
  check(cairo_status(context), "drawing");
}

// The context that text is measured with: one per thread, made at first use, and again where one has failed, since a
// context that has failed once measures nothing any more.
cairo_t* measuring_context() {
  thread_local Context context;
  if (context == nullptr || cairo_status(context.get()) != CAIRO_STATUS_SUCCESS) {
    const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1));
    context = make_context(surface.get());  // keeps the surface
  }
  return context.get();
}

}  // namespace

double text_width(std::string_view text, const TextStyle& style) {
  cairo_t* context = measuring_context();
  const double width = width_of(context, split_by_font(context, visible_text(text), style), style);
  check(cairo_status(context), "measuring text");
  return width;
}

Box text_box(Point at, std::string_view text, const TextStyle& style) {
  const double width = text_width(text, style);
  const double left = anchor_shift(style.anchor, width), right = left + width;
  const double top = -0.93 * style.size, bottom = 0.24 * style.size;  // DejaVu Sans: ascender and descender
  const double cosine = std::cos(style.angle * std::numbers::pi / 180);
  const double sine = std::sin(style.angle * std::numbers::pi / 180);
  const auto [x0, x1] = std::minmax({left * cosine - top * sine, left * cosine - bottom * sine,
                                     right * cosine - top * sine, right * cosine - bottom * sine});
  const auto [y0, y1] = std::minmax({left * sine + top * cosine, left * sine + bottom * cosine,
                                     right * sine + top * cosine, right * sine + bottom * cosine});
  return {at.x + x0, at.y + y0, x1 - x0, y1 - y0};
}

std::string fit_text(std::string_view text, const TextStyle& style, double width) {
  // No letter is narrower than a thousandth of this, so what is cut off here could not have fitted.
  constexpr std::size_t kMostBytes = 4096;
  const std::string shown = visible_text(text.substr(0, kMostBytes));
  if (text_width(shown, style) <= width) return shown;
  const std::vector<std::string_view> points = code_points(shown);
  // The longest prefix that fits, by halving: widths grow with length.
  std::size_t fits = 0, beyond = points.size();
  const auto shortened = [&](std::size_t count) {
    const auto bytes = count == 0 ? 0 : points[count - 1].data() + points[count - 1].size() - shown.data();
    return shown.substr(0, static_cast<std::size_t>(bytes)) + "…";
  };
  while (fits + 1 < beyond) {
    const std::size_t middle = (fits + beyond) / 2;
    (text_width(shortened(middle), style) <= width ? fits : beyond) = middle;
  }
  return shortened(fits);
}

std::string encode_png(const Image& image) {
  const Surface surface = surface_of(image);
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes), "writing a PNG");
  return bytes;
}

std::string render_png(const Picture& picture, double scale) {
  const auto pixels = [&](double side) { return std::max(1, static_cast<int>(std::ceil(side * scale - 1e-9))); };
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(picture.width), pixels(picture.height)));
  const Context context = make_context(surface.get());
  cairo_scale(context.get(), scale, scale);
  paint_on_white(picture, context.get());
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes), "writing a PNG");
  return bytes;
}

std::string render_pdf(const Picture& picture) {
  std::string bytes;
  const Surface surface(cairo_pdf_surface_create_for_stream(append_bytes, &bytes, picture.width, picture.height));
  const Context context = make_context(surface.get());
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
