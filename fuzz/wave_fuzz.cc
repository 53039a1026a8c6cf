// WAV files: samples are finite and as many as the bytes can hold, and another rate keeps the length of the sound.
#include "heed/sound/wave.h"

#include <algorithm>
#include <cmath>

#include "property.h"

namespace heed::fuzz {
namespace {

void check_wave(std::string_view bytes) {
  const auto wave = taken([&] { return parse_wave(bytes, "input"); });
  if (!wave) return;
  require(!wave->samples.empty() && wave->samples.size() <= bytes.size(), "there are samples, and no more than bytes");
  require(std::ranges::all_of(wave->samples, [](float x) { return std::isfinite(x); }), "samples are finite");
  constexpr Index kRate = 16000;
  constexpr std::size_t kShort = 64;  // which is resampled in no time at any rate
  Wave cut{wave->rate, {wave->samples.begin(), wave->samples.begin() + std::min(wave->samples.size(), kShort)}};
  const auto made = static_cast<Index>(resampled(cut, kRate).samples.size());
  require(made == (std::ssize(cut.samples) * kRate + cut.rate - 1) / cut.rate, "a sound keeps its length");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_wave(heed::fuzz::bytes_of(data, size));
  return 0;
}
