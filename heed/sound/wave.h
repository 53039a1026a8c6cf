// Sound as models hear it: one number in [-1, 1] a moment, read from WAV files.
//
//   const Wave wave = resampled(read_wave("speech.wav"), 16000);
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

struct Wave {
  Index rate = 0;  // samples a second
  std::vector<float> samples{};
};

inline constexpr Index kLowestRate = 1000, kHighestRate = 1000000;

// Reads a RIFF file of PCM of 8, 16, 24 or 32 bits or of floats of 32 or 64, little endian, also where an extended
// header (WAVE_FORMAT_EXTENSIBLE) says so; the mean of its channels. Integers are divided by 2^(bits - 1). The data may
// end before the length that the header gives, as in files that a program was still writing. Throws heed::Error that
// names the file and what is wrong for anything else, numbers that are not finite, and rates outside [kLowestRate,
// kHighestRate].
Wave read_wave(const std::filesystem::path& path);
// The same of bytes in memory; `name` stands for the file in errors.
Wave parse_wave(std::string_view bytes, std::string_view name);

// The same sound at another rate, of ceil(samples * rate / wave.rate) samples: what is beyond half of the lower rate is
// filtered out by a sinc in a Kaiser window of 32 crossings a side (Smith 2002, "Digital Audio Resampling Home Page"),
// with less than -80 dB left beyond the passage, whose middle is at 0.95 of that half. A wave of this rate is as it
// was. Costs a multiply-add for each crossing's samples and each new one. Throws heed::Error for a rate that read_wave
// refuses.
Wave resampled(const Wave& wave, Index rate);

}  // namespace heed
