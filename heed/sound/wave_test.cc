#include "heed/sound/wave.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/testing/file_bytes.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::bytes_of;
using testing::refusal;

std::string chunk(const std::string& kind, const std::string& data) {
  return kind + bytes_of(static_cast<std::uint32_t>(data.size())) + data + std::string(data.size() % 2, '\0');
}

std::string format_of(int kind, int channels, int bits, std::uint32_t rate = 16000) {
  const int frame = channels * bits / 8;
  return bytes_of(static_cast<std::uint16_t>(kind)) + bytes_of(static_cast<std::uint16_t>(channels)) + bytes_of(rate) +
         bytes_of(rate * static_cast<std::uint32_t>(frame)) + bytes_of(static_cast<std::uint16_t>(frame)) +
         bytes_of(static_cast<std::uint16_t>(bits));
}

std::string file_of(const std::string& format, const std::string& data) {
  return "RIFF" + bytes_of(std::uint32_t{0}) + "WAVE" + chunk("LIST", "odd") + chunk("fmt ", format) +
         chunk("data", data);
}

std::vector<float> samples_of(const std::string& format, const std::string& data) {
  return parse_wave(file_of(format, data), "x.wav").samples;
}

TEST(ParseWave, EveryTypeOfSampleIsAShareOfTheLargest) {
  using Samples = std::vector<float>;
  EXPECT_EQ(samples_of(format_of(1, 1, 8), std::string("\x00\x80\xc0", 3)), (Samples{-1, 0, 0.5}));
  EXPECT_EQ(samples_of(format_of(1, 1, 16), std::string("\x00\x80\x00\x20\xff\xff", 6)),
            (Samples{-1, 0.25, -1.0F / 32768}));
  EXPECT_EQ(samples_of(format_of(1, 1, 24), std::string("\x00\x00\x80\x00\x00\x20\xff\xff\xff", 9)),
            (Samples{-1, 0.25, -1.0F / 8388608}));
  EXPECT_EQ(samples_of(format_of(1, 1, 32), bytes_of(std::int32_t{1 << 29})), (Samples{0.25}));
  EXPECT_EQ(samples_of(format_of(3, 1, 32), bytes_of(-0.75F)), (Samples{-0.75}));
  EXPECT_EQ(samples_of(format_of(3, 1, 64), bytes_of(0.125)), (Samples{0.125}));
  const std::string extended =
      format_of(0xFFFE, 1, 32) + std::string(8, '\0') + bytes_of(std::uint16_t{3}) + std::string(14, '\0');
  EXPECT_EQ(samples_of(extended, bytes_of(0.5F)), (Samples{0.5}));
}

TEST(ParseWave, ChannelsBecomeTheirMean) {
  const std::string data = bytes_of(0.5F) + bytes_of(-0.25F) + bytes_of(1.0F) + bytes_of(0.0F);
  EXPECT_EQ(samples_of(format_of(3, 2, 32), data), (std::vector<float>{0.125, 0.5}));
}

TEST(ParseWave, DataMayEndBeforeItsLength) {
  std::string file = file_of(format_of(1, 1, 16), std::string("\x00\x40\x00\x20", 4));
  file.resize(file.size() - 1);
  EXPECT_EQ(parse_wave(file, "x.wav").samples, (std::vector<float>{0.5}));
}

TEST(ParseWave, WhatIsNotSoundIsRefusedByItsName) {
  const auto refused = [](const std::string& format, const std::string& data) {
    return refusal([&] { parse_wave(file_of(format, data), "x.wav"); });
  };
  EXPECT_EQ(refusal([] { parse_wave("RIFF", "x.wav"); }), "x.wav: is not a WAV file");
  EXPECT_EQ(refused(format_of(1, 1, 16), ""), "x.wav: has no samples");
  EXPECT_EQ(refused(format_of(1, 0, 16), "ab"), "x.wav: has no channels");
  EXPECT_NE(refused(format_of(1, 1, 12), "ab").find("PCM of 12 bits"), std::string::npos);
  EXPECT_NE(refused(format_of(2, 1, 4), "ab").find("WAV format 2"), std::string::npos);
  EXPECT_NE(refused(format_of(1, 1, 16, 0), "ab").find("0 samples a second"), std::string::npos);
  EXPECT_NE(refused("short", "ab").find("5 bytes"), std::string::npos);
  EXPECT_NE(refused(format_of(3, 1, 32), bytes_of(std::numeric_limits<float>::quiet_NaN())).find("not finite"),
            std::string::npos);
  const std::string file = file_of(format_of(1, 1, 16), "ab");
  for (std::size_t size = 0; size + 2 < file.size(); ++size) {
    EXPECT_TRUE(size >= file.size() - 2 || !refusal([&] { parse_wave(file.substr(0, size), "x.wav"); }).empty())
        << size;
  }
}

Wave tone(double hertz, Index rate, Index count) {
  Wave wave{rate, {}};
  for (Index i = 0; i < count; ++i) {
    wave.samples.push_back(static_cast<float>(
        std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / static_cast<double>(rate))));
  }
  return wave;
}

// The largest difference away from the ends, where the sound is cut.
double farthest(const Wave& a, const Wave& b) {
  double most = 0;
  for (std::size_t i = 200; i + 200 < a.samples.size(); ++i) {
    most = std::max(most, std::abs(double{a.samples[i]} - double{b.samples[i]}));
  }
  return most;
}

TEST(Resampled, ATonesSamplesAreThoseOfTheToneAtTheOtherRate) {
  for (Index rate : {8000, 11025, 22050, 44100, 48000, 96000}) {
    for (double hertz : {100.0, 1000.0, 3000.0}) {
      const Wave made = resampled(tone(hertz, rate, rate / 4), 16000);
      EXPECT_EQ(std::ssize(made.samples), ceil_div(rate / 4 * 16000, rate));
      EXPECT_LT(farthest(made, tone(hertz, 16000, std::ssize(made.samples))), 1e-3) << rate << " " << hertz;
    }
  }
}

TEST(Resampled, WhatTheLowerRateCannotHoldIsGone) {
  for (double hertz : {9000.0, 12000.0, 20000.0}) {
    const Wave made = resampled(tone(hertz, 48000, 24000), 16000);
    EXPECT_LT(farthest(made, {16000, std::vector<float>(made.samples.size())}), 1e-3) << hertz;
  }
}

TEST(Resampled, ItsOwnRateIsTheWaveItselfAndThreadsChangeNoBit) {
  const Wave wave = tone(440, 44100, 30000);
  EXPECT_EQ(resampled(wave, 44100).samples, wave.samples);
  const int before = thread_count();
  set_thread_count(1);
  const Wave one = resampled(wave, 16000);
  set_thread_count(4);
  EXPECT_EQ(resampled(wave, 16000).samples, one.samples);
  set_thread_count(before);
}

}  // namespace
}  // namespace heed
