// What Whisper hears (Radford et al. 2022, section 2.2): the logarithm of a sound's power in bands of pitch.
//
//   const Wave wave = resampled(read_wave("speech.wav"), kLogMelRate);
//   const Tensor bands = log_mel(wave.samples, {.bands = 80});              // [1, 3000, 80]
#pragma once

#include <span>

#include "heed/base/error.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Samples a second, samples of the window that a frame is made of, and samples from one frame to the next.
inline constexpr Index kLogMelRate = 16000, kLogMelWindow = 400, kLogMelHop = 160;

struct LogMelOptions {
  Index bands = 80;
  Index frames = 3000;  // thirty seconds
};

// f32 [1, frames, bands] of the first frames * kLogMelHop samples, with zeros behind them where there are fewer. Frame
// t is a periodic Hann window around sample t * kLogMelHop, with the sound mirrored at both ends; its power spectrum
// goes through triangles of equal area on the mel scale of Slaney 1998 ("Auditory Toolbox") from 0 to 8000 Hz. Then x =
// log10(max(power, 1e-10)), at least the largest of all less 8, and (x + 4) / 4. In double. Throws heed::Error for
// bands and frames out of reason.
Tensor log_mel(std::span<const float> samples, const LogMelOptions& options);

}  // namespace heed
