#include "heed/viz/shaped_text.h"

#include <pango/pangocairo.h>

#include <algorithm>
#include <new>

#include "heed/base/check.h"
#include "heed/unicode/unicode.h"
#include "heed/viz/fonts.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr double kLargestSize = 1000;
constexpr double kWidest = 1e6;  // points: Pango counts in 1024ths of one, in 32 bits

struct FreePango {
  void operator()(PangoContext* context) const { g_object_unref(context); }
  void operator()(PangoFontMap* map) const { g_object_unref(map); }
  void operator()(PangoFontDescription* description) const { pango_font_description_free(description); }
  void operator()(PangoAttrList* attributes) const { pango_attr_list_unref(attributes); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
using ContextOfText = std::unique_ptr<PangoContext, FreePango>;
using FontMap = std::unique_ptr<PangoFontMap, FreePango>;
using Description = std::unique_ptr<PangoFontDescription, FreePango>;
using Attributes = std::unique_ptr<PangoAttrList, FreePango>;
using FontOptions = std::unique_ptr<cairo_font_options_t, FreePango>;

// One for each thread, made at first use: Pango's maps of fonts are for one thread.
PangoFontMap* font_map() {
  thread_local const FontMap map(pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT));
  HEED_CHECK(map != nullptr, "render: measuring text: Cairo was built without FreeType's fonts");
  return map.get();
}

// Letters keep their designed widths and places, so that a text is as wide on every canvas as it was measured.
PangoContext* context_of_text() {
  thread_local const ContextOfText context = [] {
    ContextOfText made(pango_font_map_create_context(font_map()));
    const FontOptions options(cairo_font_options_create());
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(made.get(), options.get());
    pango_context_set_round_glyph_positions(made.get(), FALSE);
    pango_context_set_language(made.get(), pango_language_from_string("en"));  // not the machine's
    return made;
  }();
  return context.get();
}

Description describe_font(std::string_view text, const TextStyle& style) {
  Description description(pango_font_description_new());
  pango_font_description_set_family(description.get(), font_families(text, style).c_str());
  pango_font_description_set_weight(description.get(), style.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_font_description_set_absolute_size(description.get(), style.size * PANGO_SCALE);
  return description;
}

// Fontconfig may have none, and Pango then draws nothing.
void check_fonts(PangoContext* context, PangoFontDescription* description) {
  PangoFont* const font = pango_font_map_load_font(font_map(), context, description);
  HEED_CHECK(font != nullptr, "render: measuring text: this machine has no font that Fontconfig finds");
  g_object_unref(font);
}

const PangoGlyphItem& run_of(const GSList* run) { return *static_cast<const PangoGlyphItem*>(run->data); }

double points(int units) { return static_cast<double>(units) / PANGO_SCALE; }

}  // namespace

bool has_font(std::string_view family) {
  const std::string wanted(family);
  PangoFontFamily** families = nullptr;
  int count = 0;
  pango_font_map_list_families(font_map(), &families, &count);
  const bool found = std::any_of(families, families + count, [&wanted](PangoFontFamily* each) {
    return g_ascii_strcasecmp(pango_font_family_get_name(each), wanted.c_str()) == 0;
  });
  g_free(families);
  return found;
}

ShapedText::ShapedText(std::string_view text, const TextStyle& style) {
  HEED_CHECK(style.size > 0 && style.size <= kLargestSize,
             "render: measuring text: a font's size must lie in (0, {}] points, but is {}", kLargestSize, style.size);
  const std::string shown = visible_text(text);
  HEED_CHECK(static_cast<double>(shown.size()) * style.size <= kWidest,
             "render: measuring text: {} bytes of {} points are wider than any picture", shown.size(), style.size);
  PangoContext* const context = context_of_text();
  const Description description = describe_font(shown, style);
  check_fonts(context, description.get());
  layout_.reset(pango_layout_new(context));
  // Of this text alone: a change of the context would break the lines of all texts anew.
  const Attributes attributes(pango_attr_list_new());
  pango_attr_list_insert(attributes.get(),
                         pango_attr_language_new(pango_language_from_string(language_of(shown, style).c_str())));
  pango_layout_set_attributes(layout_.get(), attributes.get());
  pango_layout_set_single_paragraph_mode(layout_.get(), TRUE);
  pango_layout_set_font_description(layout_.get(), description.get());
  pango_layout_set_text(layout_.get(), shown.data(), static_cast<int>(shown.size()));
  line_ = pango_layout_get_line_readonly(layout_.get(), 0);
  if (line_ == nullptr) throw std::bad_alloc();
  PangoRectangle logical;
  pango_layout_line_get_extents(line_, nullptr, &logical);
  width_ = points(logical.width);
  ascent_ = points(-logical.y);
  descent_ = points(logical.y + logical.height);
}

bool ShapedText::right_to_left() const {
  return pango_layout_line_get_resolved_direction(line_) == PANGO_DIRECTION_RTL;
}

std::vector<std::size_t> ShapedText::cuts() const {
  int count = 0;
  const PangoLogAttr* const characters = pango_layout_get_log_attrs_readonly(layout_.get(), &count);
  std::vector<std::size_t> cuts;
  std::size_t byte = 0;
  int at = 0;
  for_each_code_point(shown(), [&](char32_t, std::string_view bytes) {
    if (at < count && characters[at++].is_cursor_position != 0) cuts.push_back(byte);
    byte += bytes.size();
  });
  cuts.push_back(byte);
  return cuts;
}

std::vector<std::pair<std::size_t, std::size_t>> ShapedText::lines(double width) const {
  const std::unique_ptr<PangoLayout, Release> broken(pango_layout_copy(layout_.get()));
  pango_layout_set_wrap(broken.get(), PANGO_WRAP_WORD_CHAR);
  pango_layout_set_width(broken.get(), static_cast<int>(std::clamp(width, 1.0, kWidest) * PANGO_SCALE));
  std::vector<std::pair<std::size_t, std::size_t>> lines;
  for (const GSList* at = pango_layout_get_lines_readonly(broken.get()); at != nullptr; at = at->next) {
    const auto& line = *static_cast<const PangoLayoutLine*>(at->data);
    lines.emplace_back(line.start_index, line.start_index + line.length);
  }
  return lines;
}

std::vector<ShapedGlyph> ShapedText::glyphs() const {
  std::vector<ShapedGlyph> glyphs;
  int x = 0;
  for (const GSList* run = line_->runs; run != nullptr; run = run->next) {
    const PangoGlyphItem& item = run_of(run);
    for (int i = 0; i < item.glyphs->num_glyphs; ++i) {
      const PangoGlyphInfo& glyph = item.glyphs->glyphs[i];
      glyphs.push_back({.id = glyph.glyph,
                        .byte = static_cast<std::size_t>(item.item->offset + item.glyphs->log_clusters[i]),
                        .x = points(x + glyph.geometry.x_offset)});
      x += glyph.geometry.width;
    }
  }
  return glyphs;
}

void ShapedText::add_missing(std::set<std::string>& characters) const {
  for (const ShapedGlyph& glyph : glyphs()) {
    // Pango puts the character itself where it has no glyph.
    if (glyph.id == PANGO_GLYPH_EMPTY || (glyph.id & PANGO_GLYPH_UNKNOWN_FLAG) == 0) continue;
    std::string character;
    append_utf8(glyph.id & ~PANGO_GLYPH_UNKNOWN_FLAG, character);
    characters.insert(std::move(character));
  }
}

void ShapedText::draw(cairo_t* context) const { pango_cairo_show_layout_line(context, line_); }

}  // namespace heed
