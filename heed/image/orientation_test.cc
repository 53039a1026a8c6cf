#include "heed/image/orientation.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

// Of grey pixels, one for each letter.
Image letters(Index height, Index width, std::string_view rows) {
  Image image{height, width};
  for (char letter : rows) image.pixels.insert(image.pixels.end(), 3, static_cast<std::uint8_t>(letter));
  return image;
}

// TIFF 6.0's Orientation: what the first row and the first column of the file are.
TEST(Upright, EachOrientationPutsTheFirstRowAndColumnWhereTheyBelong) {
  const Image lies = letters(2, 3, "abcdef");
  EXPECT_EQ(upright(lies, 1), lies);
  EXPECT_EQ(upright(lies, 2), letters(2, 3, "cbafed"));  // top, right
  EXPECT_EQ(upright(lies, 3), letters(2, 3, "fedcba"));  // bottom, right
  EXPECT_EQ(upright(lies, 4), letters(2, 3, "defabc"));  // bottom, left
  EXPECT_EQ(upright(lies, 5), letters(3, 2, "adbecf"));  // left, top
  EXPECT_EQ(upright(lies, 6), letters(3, 2, "daebfc"));  // right, top
  EXPECT_EQ(upright(lies, 7), letters(3, 2, "fcebda"));  // right, bottom
  EXPECT_EQ(upright(lies, 8), letters(3, 2, "cfbead"));  // left, bottom
}

const std::string kLittle("II\x2a\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x01\0\0\0\0\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0",
                          34);
const std::string kBig("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0", 22);

TEST(ExifOrientation, IsReadInEitherOrderOfBytes) {
  EXPECT_EQ(exif_orientation(kLittle), 6);
  EXPECT_EQ(exif_orientation(kBig), 8);
}

TEST(ExifOrientation, OfANoteThatMakesNoSenseIsAsThePictureLies) {
  EXPECT_EQ(exif_orientation(""), 1);
  EXPECT_EQ(exif_orientation("GIF89a"), 1);
  for (std::size_t size = 0; size < kBig.size() - 2; ++size)
    EXPECT_EQ(exif_orientation(kBig.substr(0, size)), 1) << size;
  for (char orientation : {'\0', '\x09'}) {
    std::string other = kBig;
    other[19] = orientation;
    EXPECT_EQ(exif_orientation(other), 1);
  }
  std::string far = kBig;
  far[4] = far[5] = '\xff';  // the directory
  EXPECT_EQ(exif_orientation(far), 1);
}

}  // namespace
}  // namespace heed
