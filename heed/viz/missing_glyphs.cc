#include <set>

#include "heed/viz/picture.h"
#include "heed/viz/shaped_text.h"

namespace heed {
namespace {

// Takes notice of text alone.
class GlyphCheck final : public Canvas {
 public:
  void fill(const Box&, const Colour&, std::string_view) override {}
  void outline(const Box&, const Colour&, double) override {}
  void image(const Box&, const Image&) override {}
  void line(Point, Point, const Colour&, double) override {}
  void text(Point, std::string_view text, const TextStyle& style) override {
    ShapedText(text, style).add_missing(missing_);
  }

  std::vector<std::string> missing() const { return {missing_.begin(), missing_.end()}; }

 private:
  std::set<std::string> missing_;
};

}  // namespace

std::vector<std::string> missing_glyphs(const Picture& picture) {
  GlyphCheck check;
  if (picture.paint) picture.paint(check);
  return check.missing();
}

}  // namespace heed
