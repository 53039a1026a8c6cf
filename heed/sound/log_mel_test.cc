#include "heed/sound/log_mel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::refusal;

// Held against NumPy's own transform in tests/pretrained/senses.py.

std::vector<float> tone(double hertz, Index count) {
  std::vector<float> samples;
  for (Index i = 0; i < count; ++i) {
    samples.push_back(
        static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / kLogMelRate)));
  }
  return samples;
}

Index loudest_band(const Tensor& bands, Index frame) {
  const float* row = bands.data<float>() + frame * bands.dim(2);
  return std::max_element(row, row + bands.dim(2)) - row;
}

TEST(LogMel, AHigherToneIsInAHigherBand) {
  Index before = -1;
  for (double hertz : {200.0, 500.0, 1000.0, 2000.0, 4000.0, 7000.0}) {
    const Index band = loudest_band(log_mel(tone(hertz, 16000), {.bands = 80, .frames = 100}), 50);
    EXPECT_GT(band, before) << hertz;
    before = band;
  }
}

TEST(LogMel, SilenceIsEverywhereTheSame) {
  const Tensor bands = log_mel({}, {.bands = 4, .frames = 5});
  for (Index i = 0; i < bands.size(); ++i) EXPECT_FLOAT_EQ(bands.data<float>()[i], (-10.0F + 4) / 4);
}

TEST(LogMel, SpansEightDecadesBelowTheLoudest) {
  const Tensor bands = log_mel(tone(1000, 3000), {.bands = 80, .frames = 60});
  const float* all = bands.data<float>();
  const auto [least, most] = std::minmax_element(all, all + bands.size());
  EXPECT_NEAR(*most - *least, 2, 1e-6);
}

TEST(LogMel, WhatIsBehindTheFramesIsNotHeard) {
  const std::vector<float> all = tone(700, 9000);
  const Tensor whole = log_mel(all, {.bands = 10, .frames = 20});
  const Tensor cut = log_mel(std::span(all).first(20 * kLogMelHop), {.bands = 10, .frames = 20});
  for (Index i = 0; i < whole.size(); ++i) EXPECT_EQ(whole.data<float>()[i], cut.data<float>()[i]);
}

TEST(LogMel, ExtentsOutOfReasonAreRefused) {
  EXPECT_EQ(refusal([] { log_mel({}, {.bands = 0}); }), "log_mel: there are 1 to 1024 bands, not 0");
  EXPECT_EQ(refusal([] { log_mel({}, {.frames = 1}); }), "log_mel: there are 2 to 1048576 frames, not 1");
}

}  // namespace
}  // namespace heed
