#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "heed/image/image.h"
#include "heed/io/base64.h"
#include "heed/viz/backends.h"
#include "heed/viz/fonts.h"
#include "heed/viz/shaped_text.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

// Where every viewer's letters follow each other as they were measured; what is joined, stacked or read from right to
// left is left to the viewer, whose fonts are others.
bool measured_exactly(std::string_view text) {
  return std::ranges::all_of(code_points(text), [](std::string_view c) {
    return c.size() == 1 || (c.size() == 2 && static_cast<unsigned char>(c[0]) < 0xD6);  // below U+0580
  });
}

// text-anchor counts from where the text begins: at the right, where it is read from there.
const char* anchor_name(TextAnchor anchor, bool right_to_left) {
  if (anchor == TextAnchor::middle) return "middle";
  return (anchor == TextAnchor::end) == right_to_left ? "start" : "end";
}

// Quoted where CSS takes no plain words: names with a digit in front of a word.
std::string css_families(std::string_view families) {
  std::string quoted;
  for (std::string_view family : families_of(families)) {
    const bool plain = std::ranges::all_of(family, [before = ' '](char c) mutable {
      const bool starts = std::exchange(before, c) == ' ';
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
      return letter || c == ' ' || c == '-' || (c >= '0' && c <= '9' && !starts);
    });
    quoted += fmt::format("{}{}{}{}", quoted.empty() ? "" : ", ", plain ? "" : "'", family, plain ? "" : "'");
  }
  return quoted;
}

class SvgCanvas final : public Canvas {
 public:
  // `families` are the picture's.
  SvgCanvas(std::string families, std::string& out) : families_(std::move(families)), out_(out) {}

  void fill(const Box& box, const Colour& colour, std::string_view note) override {
    // A filled box is also tall and wide enough to leave no crack to its neighbour: crispEdges snaps both to the same
    // pixel.
    write(R"(<rect x="{:.6g}" y="{:.6g}" width="{:.6g}" height="{:.6g}" fill="{}")", box.x, box.y, box.width,
          box.height, hex(colour));
    if (note.empty()) {
      write("/>\n");
    } else {
      write("><title>{}</title></rect>\n", escape_markup(note));
    }
  }

  void outline(const Box& box, const Colour& colour, double width) override {
    write(
        R"(<rect x="{:.6g}" y="{:.6g}" width="{:.6g}" height="{:.6g}" fill="none" stroke="{}" stroke-width="{:.6g}"/>)"
        "\n",
        box.x, box.y, box.width, box.height, hex(colour), width);
  }

  void image(const Box& box, const Image& image) override {
    write(R"(<image x="{:.6g}" y="{:.6g}" width="{:.6g}" height="{:.6g}" preserveAspectRatio="none" )"
          R"(href="data:image/png;base64,{}"/>)"
          "\n",
          box.x, box.y, box.width, box.height, base64(png_bytes(image)));
  }

  void line(Point from, Point to, const Colour& colour, double width) override {
    write(R"(<line x1="{:.6g}" y1="{:.6g}" x2="{:.6g}" y2="{:.6g}" stroke="{}" stroke-width="{:.6g}"/>)"
          "\n",
          from.x, from.y, to.x, to.y, hex(colour), width);
  }

  void text(Point at, std::string_view text, const TextStyle& style) override {
    if (text.empty()) return;
    const ShapedText shaped(text, style);
    write(R"(<text x="{:.6g}" y="{:.6g}" font-size="{:.6g}" fill="{}")", at.x, at.y, style.size, hex(style.colour));
    if (style.bold) write(R"( font-weight="bold")");
    if (shaped.right_to_left()) write(R"( direction="rtl")");
    if (style.anchor != TextAnchor::start || shaped.right_to_left()) {
      write(R"( text-anchor="{}")", anchor_name(style.anchor, shaped.right_to_left()));
    }
    if (style.angle != 0) write(R"x( transform="rotate({:.6g} {:.6g} {:.6g})")x", style.angle, at.x, at.y);
    write_font(text, style);
    if (measured_exactly(shaped.shown())) {
      write(R"( textLength="{:.6g}" lengthAdjust="spacingAndGlyphs")", shaped.width());
    }
    write(">{}</text>\n", escape_markup(text));
  }

 private:
  // Only where they are others than the picture's.
  void write_font(std::string_view text, const TextStyle& style) {
    const std::string families = css_families(font_families(text, style)), language = language_of(text, style);
    if (families != families_) write(R"( font-family="{}")", escape_markup(families));
    if (language != "en") write(R"( xml:lang="{}")", escape_markup(language));
  }

  template <typename... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  const std::string families_;
  std::string& out_;
};

}  // namespace

std::string render_svg(const Picture& picture) {
  const std::string families = css_families(font_families({}, {}));
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.6g}pt" height="{1:.6g}pt" viewBox="0 0 {0:.6g} {1:.6g}" role="img" )"
      R"(font-family="{4}">)"
      "\n<title>{2}</title>\n<desc>{3}</desc>\n"
      "<style>text {{ white-space: pre }} rect {{ shape-rendering: crispEdges }}</style>\n"
      R"(<rect width="{0:.6g}" height="{1:.6g}" fill="#ffffff"/>)"
      "\n",
      picture.width, picture.height, escape_markup(picture.title), escape_markup(picture.description),
      escape_markup(families));
  SvgCanvas canvas(families, out);
  picture.paint(canvas);
  out += "</svg>\n";
  return out;
}

}  // namespace heed
