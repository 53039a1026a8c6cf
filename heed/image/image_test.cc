#include "heed/image/image.h"

#include <gtest/gtest.h>

// libjpeg's header takes size_t and FILE from those before it.
#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "heed/image/orientation.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

// Colours that change slowly, so that a JPEG keeps them nearly.
Image drawn(Index height, Index width) {
  Image image{height, width};
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      for (Index colour : {5 * y, 3 * x, 2 * (x + y)}) image.pixels.push_back(static_cast<std::uint8_t>(colour % 256));
    }
  }
  return image;
}

std::string png_of(const Image& image, png_uint_32 format, const void* rows) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = format;
  png_alloc_size_t bytes = 0;
  png_image_write_to_memory(&png, nullptr, &bytes, 0, rows, 0, nullptr);
  std::string file(bytes, '\0');
  EXPECT_NE(png_image_write_to_memory(&png, file.data(), &bytes, 0, rows, 0, nullptr), 0) << png.message;
  file.resize(bytes);
  return file;
}

std::string png_of(const Image& image) { return png_of(image, PNG_FORMAT_RGB, image.pixels.data()); }

std::string jpeg_of(const Image& image, bool is_progressive = false, J_COLOR_SPACE colours = JCS_YCbCr) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, colours);
  jpeg_set_quality(&jpeg, 98, TRUE);
  if (is_progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<std::uint8_t> rows = image.pixels;
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = rows.data() + std::size_t{jpeg.next_scanline} * jpeg.image_width * 3;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

TEST(Png, WhatIsWrittenReadsTheSame) {
  for (const Image& image : {drawn(9, 7), drawn(1, 1), drawn(1, 300)}) {
    EXPECT_EQ(parse_image(png_bytes(image), "x.png"), image);
  }
  EXPECT_EQ(refusal([] { png_bytes({}); }), "png_bytes: the picture has no pixels");
}

TEST(ParseImage, APngHasThePixelsThatWereWritten) {
  const Image image = drawn(21, 34);
  EXPECT_EQ(parse_image(png_of(image), "x.png"), image);
}

TEST(ParseImage, GreyAndTransparentPngsBecomeThreeColours) {
  const Image image = drawn(3, 2);
  const std::vector<std::uint8_t> grey{0, 50, 100, 150, 200, 255};
  const Image from_grey = parse_image(png_of(image, PNG_FORMAT_GRAY, grey.data()), "grey.png");
  for (std::size_t i = 0; i < from_grey.pixels.size(); ++i) EXPECT_EQ(from_grey.pixels[i], grey[i / 3]);
  std::vector<std::uint8_t> with_alpha;
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    with_alpha.push_back(image.pixels[i]);
    if (i % 3 == 2) with_alpha.push_back(static_cast<std::uint8_t>(i * 13));
  }
  EXPECT_EQ(parse_image(png_of(image, PNG_FORMAT_RGBA, with_alpha.data()), "alpha.png"), image);
}

TEST(ParseImage, AJpegIsNearlyThePixelsThatWereWritten) {
  const Image image = drawn(40, 24);
  for (bool is_progressive : {false, true}) {
    const Image read = parse_image(jpeg_of(image, is_progressive), "x.jpg");
    ASSERT_EQ(read.height, 40);
    ASSERT_EQ(read.width, 24);
    for (std::size_t i = 0; i < read.pixels.size(); ++i) {
      EXPECT_NEAR(read.pixels[i], image.pixels[i], 12) << "at " << i;
    }
  }
}

TEST(ParseImage, AJpegIsTurnedAsItsNoteSays) {
  const std::string plain = jpeg_of(drawn(40, 24));
  const std::string exif("Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 28);
  std::string turned = plain;
  turned.insert(
      2, std::string("\xff\xe1\0\x1e", 4) + exif);  // behind the start marker, with its length and the two of that
  const Image as_it_lies = parse_image(plain, "x.jpg");
  EXPECT_EQ(parse_image(turned, "x.jpg"), upright(as_it_lies, 6));
  turned.replace(turned.find("Exif"), 4, "Xmp ");
  EXPECT_EQ(parse_image(turned, "x.jpg"), as_it_lies);
}

TEST(ParseImage, AGreyJpegBecomesThreeEqualColours) {
  const Image read = parse_image(jpeg_of(drawn(9, 9), false, JCS_GRAYSCALE), "grey.jpg");
  for (std::size_t i = 0; i < read.pixels.size(); ++i) EXPECT_EQ(read.pixels[i], read.pixels[i / 3 * 3]);
}

TEST(ParseImage, EveryBeginningOfAFileIsRefusedByItsName) {
  for (const std::string& file : {png_of(drawn(9, 7)), jpeg_of(drawn(9, 7)), jpeg_of(drawn(9, 7), true)}) {
    // The last bytes may be an end marker, which is not missed.
    for (std::size_t size = 0; size + 14 < file.size(); ++size) {
      EXPECT_TRUE(refusal([&] { parse_image(file.substr(0, size), "cut"); }).starts_with("cut: is")) << size;
    }
  }
}

TEST(ParseImage, AbsurdExtentsAreRefusedBeforeTheirMemory) {
  std::string png = png_of(drawn(4, 4));
  png.replace(16, 8,
              std::string("\x00\x00\x20\x00\x00\x00\x20\x00", 8));  // 8192 x 8192, and a checksum that is wrong now
  EXPECT_NE(refusal([&] { parse_image(png, "big.png"); }).find("big.png: is a broken PNG file"), std::string::npos);
  std::string jpeg = jpeg_of(drawn(4, 4));
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, std::string("\x20\x00\x20\x00", 4));
  EXPECT_NE(refusal([&] { parse_image(jpeg, "big.jpg"); }).find("cannot hold 8192 x 8192 pixels"), std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xff\xff\xff");
  EXPECT_TRUE(refusal([&] { parse_image(jpeg, "big.jpg"); }).starts_with("big.jpg: is a"));
}

TEST(ParseImage, WhatIsNeitherIsRefused) {
  EXPECT_EQ(refusal([] { parse_image("GIF89a", "x.gif"); }), "x.gif: is neither a PNG nor a JPEG file");
  EXPECT_EQ(refusal([] { parse_image("", "empty"); }), "empty: is neither a PNG nor a JPEG file");
}

}  // namespace
}  // namespace heed
