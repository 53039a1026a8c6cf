#include "heed/image/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "heed/base/parallel.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

constexpr Resampling kAll[] = {Resampling::nearest, Resampling::box,     Resampling::bilinear,
                               Resampling::hamming, Resampling::bicubic, Resampling::lanczos};

Image patterned(Index height, Index width) {
  Image image{height, width};
  for (Index i = 0; i < height * width * 3; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * i % 251));
  return image;
}

TEST(Resized, APictureOfOneColourStaysThatColour) {
  const Image plain{5, 7, std::vector<std::uint8_t>(5 * 7 * 3, 201)};
  for (Resampling resampling : kAll) {
    for (Index size : {1, 3, 8, 40}) {
      const Image made = resized(plain, size, size + 1, resampling);
      EXPECT_EQ(made.pixels, std::vector<std::uint8_t>(static_cast<std::size_t>(size * (size + 1) * 3), 201));
    }
  }
}

TEST(Resized, ItsOwnSizeIsThePictureItself) {
  for (Resampling resampling : kAll) EXPECT_EQ(resized(patterned(6, 9), 6, 9, resampling), patterned(6, 9));
}

TEST(Resized, HalfTheSizeByABoxIsTheMeanOfFour) {
  const Image image = patterned(8, 6), half = resized(image, 4, 3, Resampling::box);
  for (Index y = 0; y < 4; ++y) {
    for (Index x = 0; x < 3; ++x) {
      for (Index colour = 0; colour < 3; ++colour) {
        const auto mean = [&](Index row) {
          return (image.at(row, 2 * x)[colour] + image.at(row, 2 * x + 1)[colour] + 1) / 2;
        };
        EXPECT_EQ(half.at(y, x)[colour], (mean(2 * y) + mean(2 * y + 1) + 1) / 2);
      }
    }
  }
}

// A triangle of two old pixels a side: 1/8, 3/8, 3/8, 1/8.
TEST(Resized, HalfTheSizeByATriangleLooksAtFour) {
  const Image image{
      1, 8, {0, 0, 0, 80, 80, 80, 160, 160, 160, 240, 240, 240, 240, 240, 240, 0, 0, 0, 0, 0, 0, 80, 80, 80}};
  const Image half = resized(image, 1, 4, Resampling::bilinear);
  EXPECT_EQ(half.at(0, 1)[0], (80 + 3 * 160 + 3 * 240 + 240) / 8);
  EXPECT_EQ(half.at(0, 2)[0], (240 + 3 * 240 + 0 + 0) / 8);
}

TEST(Resized, TheNearestIsAnOldPixel) {
  const Image image = patterned(5, 7), made = resized(image, 3, 4, Resampling::nearest);
  const Index rows[] = {0, 2, 4}, columns[] = {0, 2, 4, 6};  // (i + 1/2) 5 / 3 and (i + 1/2) 7 / 4, rounded down
  for (Index y = 0; y < 3; ++y) {
    for (Index x = 0; x < 4; ++x) {
      for (Index colour = 0; colour < 3; ++colour) {
        EXPECT_EQ(made.at(y, x)[colour], image.at(rows[y], columns[x])[colour]);
      }
    }
  }
  EXPECT_EQ(resized(image, 10, 14, Resampling::nearest).at(9, 3)[1], image.at(4, 1)[1]);
}

// sinc(d) (0.54 + 0.46 cos(pi d)) at distances of 1/4 and 3/4, of two old pixels a side.
TEST(Resized, HalfTheSizeByHammingLooksAtFour) {
  const Image image{
      1, 8, {0, 0, 0, 80, 80, 80, 160, 160, 160, 240, 240, 240, 240, 240, 240, 0, 0, 0, 0, 0, 0, 80, 80, 80}};
  const auto weight = [](double d) {
    const double angle = std::numbers::pi * d;
    return std::sin(angle) / angle * (0.54 + 0.46 * std::cos(angle));
  };
  const double near = weight(0.25), far = weight(0.75);
  const double mean = (far * 80 + near * 160 + near * 240 + far * 240) / (2 * near + 2 * far);
  EXPECT_EQ(resized(image, 1, 4, Resampling::hamming).at(0, 1)[0], std::lround(mean));
}

TEST(Resized, ThreadsChangeNoBit) {
  const Image image = patterned(90, 70);
  const int before = thread_count();
  set_thread_count(1);
  const Image one = resized(image, 50, 33, Resampling::bicubic);
  set_thread_count(5);
  EXPECT_EQ(resized(image, 50, 33, Resampling::bicubic), one);
  set_thread_count(before);
}

TEST(Resized, ExtentsOutOfReasonAreRefused) {
  EXPECT_EQ(refusal([] { resized(patterned(2, 2), 0, 5, Resampling::box); }),
            "resized: a picture of 5 x 0 pixels is none");
  EXPECT_EQ(refusal([] { resized(patterned(2, 2), 1 << 20, 1 << 20, Resampling::box); }),
            "resized: is a picture of 1048576 x 1048576 pixels; heed reads up to 67108864 of them");
}

}  // namespace
}  // namespace heed
