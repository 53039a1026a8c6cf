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
  const PixelOptions unchanged = read(R"({"do_resize": false, "do_center_crop": true, "crop_size": 9})");
  EXPECT_EQ(testing::refusal([&] { pixel_values(wide, unchanged, signal); }),
            "pixel_values: a centre of 9 x 9 pixels is to be cut of a picture of 20 x 8");
}

}  // namespace
}  // namespace heed
