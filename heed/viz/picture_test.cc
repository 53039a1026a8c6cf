#include "heed/viz/picture.h"

#include <cairo.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/testing/refusal.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr std::array kFormats = {PictureFormat::svg, PictureFormat::png, PictureFormat::pdf};

Picture sample_picture() {
  return {
      .width = 120,
      .height = 80,
      .title = "A <title> & \"more\"",
      .description = "what it shows",
      .paint = [](Canvas& canvas) {
        canvas.fill({10, 10, 20, 20}, {1, 0, 0}, "red <&>");
        canvas.fill({30, 10, 20, 20}, {0, 0, 1});
        canvas.outline({10, 10, 40, 20}, {0, 0, 0}, 1);
        canvas.line({0, 70}, {120, 70}, {0, 1, 0}, 2);
        canvas.text({60, 60}, "Grüße </script> 'q' \"x\" שלום 😀 \x01", {.anchor = TextAnchor::middle, .angle = -45});
      }};
}

// A PNG as its pixels, read by Cairo.
struct Pixels {
  explicit Pixels(const std::string& png) {
    std::string_view left = png;
    const auto take = [](void* closure, unsigned char* data, unsigned int length) {
      auto& bytes = *static_cast<std::string_view*>(closure);
      if (bytes.size() < length) return CAIRO_STATUS_READ_ERROR;
      std::memcpy(data, bytes.data(), length);
      bytes.remove_prefix(length);
      return CAIRO_STATUS_SUCCESS;
    };
    surface = cairo_image_surface_create_from_png_stream(take, &left);
    EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
  }
  ~Pixels() { cairo_surface_destroy(surface); }
  Pixels(const Pixels&) = delete;
  Pixels& operator=(const Pixels&) = delete;

  int width() const { return cairo_image_surface_get_width(surface); }
  int height() const { return cairo_image_surface_get_height(surface); }
  Colour at(int x, int y) const {
    std::uint32_t pixel;
    std::memcpy(&pixel, cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) + 4 * x, 4);
    return {(pixel >> 16 & 255) / 255.0, (pixel >> 8 & 255) / 255.0, (pixel & 255) / 255.0};
  }

  cairo_surface_t* surface;
};

// Every tag that opens closes in order, every attribute is quoted, no bare & stands anywhere. Not all of XML, but all
// that a broken escape could break.
void expect_well_formed(std::string_view xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while ((at = xml.find_first_of("<&", at)) != std::string_view::npos) {
    if (xml[at] == '&') {
      const std::string_view reference = xml.substr(at + 1, xml.find(';', at) - at - 1);
      ASSERT_TRUE(reference == "lt" || reference == "gt" || reference == "amp" || reference == "quot" ||
                  reference == "#39")
          << reference;
      ++at;
      continue;
    }
    char quote = 0;
    std::size_t end = at + 1;
    for (; end < xml.size() && (quote != 0 || xml[end] != '>'); ++end) {
      ASSERT_NE(xml[end], '<');
      if (quote == 0 && (xml[end] == '"' || xml[end] == '\'')) {
        quote = xml[end];
      } else if (xml[end] == quote) {
        quote = 0;
      }
    }
    ASSERT_LT(end, xml.size());
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    const std::string name(tag.substr(tag[0] == '/', tag.find_first_of(" />", 1) - (tag[0] == '/')));
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  EXPECT_TRUE(open.empty());
}

TEST(Picture, ItsFormatIsTheNamesEnding) {
  EXPECT_EQ(picture_format("a/b.svg"), PictureFormat::svg);
  EXPECT_EQ(picture_format("B.PNG"), PictureFormat::png);
  EXPECT_EQ(picture_format("x.svg.pdf"), PictureFormat::pdf);
  for (const char* name : {"a.jpg", "svg", "a", "a.png.gz", ""}) EXPECT_THROW(picture_format(name), Error);
  EXPECT_EQ(testing::refusal([] { picture_format("map.gif"); }),
            "map.gif: a picture's name must end in .svg, .png or .pdf, but ends in '.gif'");
}

TEST(Picture, SvgIsWellFormedWhateverTheTextsAre) {
  const std::string svg = render(sample_picture(), PictureFormat::svg);
  expect_well_formed(svg);
  EXPECT_NE(svg.find("<title>A &lt;title&gt; &amp; &quot;more&quot;</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>red &lt;&amp;&gt;</title>"), std::string::npos);
  EXPECT_NE(svg.find("Grüße &lt;/script&gt; &#39;q&#39; &quot;x&quot; שלום 😀 ␁"), std::string::npos);
  EXPECT_EQ(svg.find("</script>"), std::string::npos);
  EXPECT_TRUE(valid_utf8(svg));
}

TEST(Picture, APngSaysHowLargeItsPixelsAre) {
  Picture picture = sample_picture();
  picture.pixels_per_inch = 300;
  const std::string png = render(picture, PictureFormat::png);
  EXPECT_EQ(Pixels(png).width(), 500);  // of 120 points, 72 of which are an inch
  // 300 to the inch are 11,811 to the metre, across and down; and the chunk's checksum by zlib.
  const std::string chunk("\0\0\0\x09pHYs\0\0\x2E\x23\0\0\x2E\x23\x01\x78\xA5\x3F\x76", 21);
  EXPECT_EQ(png.find(chunk), 33u);
}

TEST(Picture, AnSvgIsAsLargeAsTheOthers) {
  EXPECT_NE(render(sample_picture(), PictureFormat::svg).find(R"(width="120pt" height="80pt" viewBox="0 0 120 80")"),
            std::string::npos);
  EXPECT_NE(render(sample_picture(), PictureFormat::pdf).find("/MediaBox [ 0 0 120 80 ]"), std::string::npos);
}

TEST(Picture, InAnSvgTextKeepsItsDirectionAndItsAnchor) {
  const Picture picture{.width = 90, .height = 20, .title = "", .description = "", .paint = [](Canvas& canvas) {
                          canvas.text({80, 10}, "سلام", {.anchor = TextAnchor::end});
                          canvas.text({80, 10}, "Wort", {.anchor = TextAnchor::end, .font = "DejaVu Serif"});
                        }};
  const std::string svg = render(picture, PictureFormat::svg);
  EXPECT_NE(svg.find(R"(direction="rtl" text-anchor="start")"), std::string::npos) << svg;
  EXPECT_NE(svg.find(R"( text-anchor="end" font-family="DejaVu Serif)"), std::string::npos) << svg;
}

TEST(Picture, PngHasTwoPixelsToThePointAndTheColoursOfItsBoxes) {
  const std::string png = render(sample_picture(), PictureFormat::png);
  EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1A\n"));
  const Pixels pixels(png);
  EXPECT_EQ(pixels.width(), 240);
  EXPECT_EQ(pixels.height(), 160);
  EXPECT_EQ(hex(pixels.at(40, 40)), "#ff0000");
  EXPECT_EQ(hex(pixels.at(80, 40)), "#0000ff");
  EXPECT_EQ(hex(pixels.at(100, 140)), "#00ff00");
  EXPECT_EQ(hex(pixels.at(2, 2)), "#ffffff");
}

TEST(Picture, BoxesSideBySideShowNoSeam) {
  const double cell = 7.3;
  const Picture picture{.width = 100, .height = 20, .title = "", .description = "", .paint = [&](Canvas& canvas) {
                          for (int i = 0; i < 13; ++i) canvas.fill({i * cell, 0, cell, 20}, {0, 0, 0});
                        }};
  const Pixels pixels(render(picture, PictureFormat::png));
  for (int x = 0; x < 188; ++x) EXPECT_EQ(hex(pixels.at(x, 10)), "#000000") << x;
}

TEST(Picture, TextIsDrawnWhereItWasMeasured) {
  const TextStyle style{.size = 20, .anchor = TextAnchor::end, .angle = -60};
  const Point at{70, 90};
  const std::string text = "Wörter";
  const Box box = text_box(at, text, style);
  const Picture picture{.width = 160, .height = 160, .title = "", .description = "", .paint = [&](Canvas& canvas) {
                          canvas.text(at, text, style);
                        }};
  const Pixels pixels(render(picture, PictureFormat::png));
  int inside = 0, outside = 0;
  for (int y = 0; y < pixels.height(); ++y) {
    for (int x = 0; x < pixels.width(); ++x) {
      if (pixels.at(x, y).green > 0.9) continue;
      const bool in = x / 2.0 >= box.x - 1 && x / 2.0 <= box.x + box.width + 1 && y / 2.0 >= box.y - 1 &&
                      y / 2.0 <= box.y + box.height + 1;
      ++(in ? inside : outside);
    }
  }
  EXPECT_GT(inside, 100);
  EXPECT_EQ(outside, 0);
}

TEST(Picture, FittedTextIsAsLongAsItCanBe) {
  const TextStyle style{.size = 12};
  EXPECT_EQ(fit_text("kurz", style, 200), "kurz");
  const std::string fitted = fit_text("Donaudampfschifffahrtsgesellschaft", style, 80);
  EXPECT_TRUE(fitted.starts_with("Donau"));
  EXPECT_TRUE(fitted.ends_with("…"));
  EXPECT_LE(text_width(fitted, style), 80);
  EXPECT_GT(text_width(fitted, style), 65);
  EXPECT_LE(fit_text(std::string(1 << 22, 'x'), style, 80).size(), 80u);
}

TEST(Picture, TextThatCannotBeMeasuredIsRefusedAndTheNextIsMeasured) {
  const double width = text_width("kurz", {.size = 12});
  EXPECT_GT(width, 0);
  const TextStyle none{.size = std::numeric_limits<double>::quiet_NaN()};
  const std::string refusal = testing::refusal([&] { text_width("kurz", none); });
  EXPECT_TRUE(refusal.starts_with("render: measuring text: ")) << refusal;
  EXPECT_EQ(text_width("kurz", {.size = 12}), width);
}

TEST(Picture, PdfIsAPdfWithoutADate) {
  const std::string pdf = render(sample_picture(), PictureFormat::pdf);
  EXPECT_TRUE(pdf.starts_with("%PDF"));
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  EXPECT_EQ(pdf.find("/CreationDate (D:2"), std::string::npos);
}

TEST(Picture, TheSamePictureGivesTheSameBytes) {
  for (PictureFormat format : kFormats) EXPECT_EQ(render(sample_picture(), format), render(sample_picture(), format));
}

TEST(Picture, AnEndlessOneIsDrawnWithFewerPixels) {
  Picture picture = sample_picture();
  picture.width = 30000;
  picture.height = 1;
  const Pixels pixels(render(picture, PictureFormat::png));
  EXPECT_LE(pixels.width(), 32000);
}

TEST(Picture, RefusesSizesThatAreNone) {
  for (double width : {0.0, -1.0, 1e9, std::nan("")}) {
    Picture picture = sample_picture();
    picture.width = width;
    for (PictureFormat format : kFormats) EXPECT_THROW(render(picture, format), Error);
  }
  Picture picture = sample_picture();
  picture.paint = nullptr;
  EXPECT_THROW(render(picture, PictureFormat::svg), Error);
}

TEST(Picture, IsSavedUnderItsNameOrNotAtAll) {
  const std::string path = ::testing::TempDir() + "/heed_picture_test.svg";
  save_picture(sample_picture(), path);
  EXPECT_EQ(read_file(path), render(sample_picture(), PictureFormat::svg));
  Picture broken = sample_picture();
  broken.paint = [](Canvas&) { throw Error("no"); };
  EXPECT_THROW(save_picture(broken, path), Error);
  EXPECT_EQ(read_file(path), render(sample_picture(), PictureFormat::svg));
  EXPECT_THROW(save_picture(sample_picture(), ::testing::TempDir() + "/no/such/folder/x.png"), Error);
}

}  // namespace
}  // namespace heed
