#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "heed/viz/backends.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

// Scripts that may be shaped, or drawn right to left, are left to the viewer: its width is better than ours.
bool measured_exactly(std::string_view text) {
  return std::ranges::all_of(code_points(text), [](std::string_view c) {
    return c.size() == 1 || (c.size() == 2 && static_cast<unsigned char>(c[0]) < 0xD6);  // below U+0580
  });
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    unsigned three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[three >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

class SvgCanvas final : public Canvas {
 public:
  explicit SvgCanvas(std::string& out) : out_(out) {}

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
          box.x, box.y, box.width, box.height, base64(encode_png(image)));
  }

  void line(Point from, Point to, const Colour& colour, double width) override {
    write(R"(<line x1="{:.6g}" y1="{:.6g}" x2="{:.6g}" y2="{:.6g}" stroke="{}" stroke-width="{:.6g}"/>)"
          "\n",
          from.x, from.y, to.x, to.y, hex(colour), width);
  }

  void text(Point at, std::string_view text, const TextStyle& style) override {
    if (text.empty()) return;
    write(R"(<text x="{:.6g}" y="{:.6g}" font-size="{:.6g}" fill="{}")", at.x, at.y, style.size, hex(style.colour));
    if (style.bold) write(R"( font-weight="bold")");
    if (style.anchor != TextAnchor::start) {
      write(R"( text-anchor="{}")", style.anchor == TextAnchor::middle ? "middle" : "end");
    }
    if (style.angle != 0) write(" transform='rotate({:.6g} {:.6g} {:.6g})'", style.angle, at.x, at.y);
    if (measured_exactly(visible_text(text))) {
      write(R"( textLength="{:.6g}" lengthAdjust="spacingAndGlyphs")", text_width(text, style));
    }
    write(">{}</text>\n", escape_markup(text));
  }

 private:
  template <typename... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string& out_;
};

}  // namespace

std::string render_svg(const Picture& picture) {
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.6g}" height="{1:.6g}" viewBox="0 0 {0:.6g} {1:.6g}" role="img" )"
      R"(font-family="DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif">)"
      "\n<title>{2}</title>\n<desc>{3}</desc>\n"
      "<style>text {{ white-space: pre }} rect {{ shape-rendering: crispEdges }}</style>\n"
      R"(<rect width="{0:.6g}" height="{1:.6g}" fill="#ffffff"/>)"
      "\n",
      picture.width, picture.height, escape_markup(picture.title), escape_markup(picture.description));
  SvgCanvas canvas(out);
  picture.paint(canvas);
  out += "</svg>\n";
  return out;
}

}  // namespace heed
