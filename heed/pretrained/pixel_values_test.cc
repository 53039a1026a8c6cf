#include "heed/pretrained/pixel_values.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/io/json.h"
#include "heed/testing/refusal.h"
#include "heed/testing/scratch_test.h"

namespace heed {
namespace {

class PixelValues : public testing::ScratchTest {
 protected:
  PixelOptions read(std::string_view text) {
    write_json(folder_ / "preprocessor_config.json", Json::parse(text, "preprocessor_config.json"));
    return read_pixel_options(folder_);
  }
};

constexpr std::string_view kCentre =
    R"({"size": {"shortest_edge": 4}, "resample": 3, "do_center_crop": true, "crop_size": 3})";

TEST_F(PixelValues, WhatIsSavedIsWhatWasRead) {
  const PixelOptions options = read(kCentre);
  EXPECT_EQ(options.shorter_side, 4);
  EXPECT_EQ(options.crop, (std::array<Index, 2>{3, 3}));
  save_pixel_options(folder_, options);
  const PixelOptions again = read_pixel_options(folder_);
  EXPECT_EQ(again.shorter_side, options.shorter_side);
  EXPECT_EQ(again.crop, options.crop);
  EXPECT_EQ(again.size, options.size);
  EXPECT_EQ(again.resampling, options.resampling);
}

TEST_F(PixelValues, TheCentreIsCutOfWhatHasTheShorterSide) {
  const SignalOptions signal{.kind = SignalKind::picture, .channels = 3, .height = 3, .width = 3, .patch = 1};
  const Image wide{.height = 8, .width = 20, .pixels = std::vector<std::uint8_t>(8 * 20 * 3, 51)};
  const Tensor values = pixel_values(wide, read(kCentre), signal);
  ASSERT_EQ(values.size(), 27);
  EXPECT_NEAR(values.data<float>()[0], -0.6, 1e-6);
}

// As Hugging Face's center_crop: of an odd number of rows that are missing one more is above.
TEST_F(PixelValues, ACentreThatIsLargerThanThePictureIsBlackAroundIt) {
  const PixelOptions options = read(R"({"do_resize": false, "do_center_crop": true, "crop_size": [7, 3],
                                        "do_rescale": false, "do_normalize": false})");
  Image image{.height = 4, .width = 6};
  for (int i = 0; i < 4 * 6 * 3; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i + 1));
  const SignalOptions signal{.kind = SignalKind::picture, .channels = 3, .height = 7, .width = 3, .patch = 1};
  const Tensor values = pixel_values(image, options, signal);
  for (Index y = 0; y < 7; ++y) {
    for (Index x = 0; x < 3; ++x) {
      const bool is_inside = y >= 2 && y < 6;
      EXPECT_EQ(values.at<float>({0, 0, y, x}), is_inside ? static_cast<float>(image.at(y - 2, x + 1)[0]) : 0) << y;
    }
  }
}

TEST_F(PixelValues, ACentreThatTheModelDoesNotReadIsRefusedBeforeItsMemory) {
  const PixelOptions options = read(R"({"do_resize": false, "do_center_crop": true, "crop_size": 65536})");
  const SignalOptions signal{.kind = SignalKind::picture, .channels = 3, .height = 7, .width = 3, .patch = 1};
  const Image image{.height = 1, .width = 1, .pixels = {1, 2, 3}};
  EXPECT_NE(testing::refusal([&] { pixel_values(image, options, signal); }).find("is 65536 x 65536"),
            std::string::npos);
}

TEST_F(PixelValues, ExtentsMayBeAListAndColoursHaveOneMean) {
  const PixelOptions options =
      read(R"({"size": [5, 8], "resample": 0, "image_mean": 0.25, "image_std": 0.5, "rescale_factor": 0.125})");
  EXPECT_EQ(options.size, (std::array<Index, 2>{5, 8}));
  EXPECT_EQ(options.resampling, Resampling::nearest);
  EXPECT_EQ(options.mean, (std::array<double, 3>{0.25, 0.25, 0.25}));
  EXPECT_EQ(options.deviation, (std::array<double, 3>{0.5, 0.5, 0.5}));
  EXPECT_EQ(read(R"({"resample": 5})").resampling, Resampling::hamming);
  EXPECT_NE(testing::refusal([&] { read(R"({"resample": 6})"); }).find("resample: must be 0 (nearest)"),
            std::string::npos);
  EXPECT_NE(testing::refusal([&] { read(R"({"size": [5]})"); }).find("size"), std::string::npos);
}

}  // namespace
}  // namespace heed
