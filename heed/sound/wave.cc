#include "heed/sound/wave.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "heed/base/check.h"
#include "heed/base/file.h"

namespace heed {
namespace {

constexpr std::uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;

template <typename T>
T number_at(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

struct Format {
  bool is_float = false;
  Index channels = 0, rate = 0, sample_bytes = 0;
};

Format parse_format(std::string_view chunk, std::string_view name) {
  constexpr std::size_t kBytes = 16, kExtendedBytes = 40, kKindAt = 24;
  HEED_CHECK(chunk.size() >= kBytes, "{}: its format chunk has {} bytes, but needs {}", name, chunk.size(), kBytes);
  auto kind = number_at<std::uint16_t>(chunk.data());
  if (kind == kExtensible && chunk.size() >= kExtendedBytes) kind = number_at<std::uint16_t>(chunk.data() + kKindAt);
  HEED_CHECK(kind == kPcm || kind == kFloat, "{}: is of WAV format {}; heed reads PCM (1) and floats (3)", name, kind);
  const Index bits = number_at<std::uint16_t>(chunk.data() + 14);
  const Format format{kind == kFloat, number_at<std::uint16_t>(chunk.data() + 2),
                      number_at<std::uint32_t>(chunk.data() + 4), bits / 8};
  const bool known = format.is_float ? bits == 32 || bits == 64 : bits == 8 || bits == 16 || bits == 24 || bits == 32;
  HEED_CHECK(known, "{}: has {} of {} bits; heed reads PCM of 8, 16, 24 and 32 bits and floats of 32 and 64", name,
             format.is_float ? "floats" : "PCM", bits);
  HEED_CHECK(format.channels >= 1, "{}: has no channels", name);
  HEED_CHECK(format.rate >= kLowestRate && format.rate <= kHighestRate,
             "{}: has {} samples a second; heed reads {} to {}", name, format.rate, kLowestRate, kHighestRate);
  const Index frame = number_at<std::uint16_t>(chunk.data() + 12);
  HEED_CHECK(frame == format.channels * format.sample_bytes, "{}: says that {} channels of {} bytes are {} bytes", name,
             format.channels, format.sample_bytes, frame);
  return format;
}

double sample_at(const char* bytes, const Format& format) {
  if (format.is_float) {
    return format.sample_bytes == 4 ? double{number_at<float>(bytes)} : number_at<double>(bytes);
  }
  switch (format.sample_bytes) {
    case 1:
      return (number_at<std::uint8_t>(bytes) - 128) / 128.0;
    case 2:
      return number_at<std::int16_t>(bytes) / 32768.0;
    case 3: {
      std::uint32_t high = 0;  // its 24 bits on top of 32
      std::memcpy(reinterpret_cast<char*>(&high) + 1, bytes, 3);
      return static_cast<std::int32_t>(high) / 2147483648.0;
    }
    default:
      return number_at<std::int32_t>(bytes) / 2147483648.0;
  }
}

Wave parse_samples(std::string_view data, const Format& format, std::string_view name) {
  const Index frame = format.channels * format.sample_bytes, count = static_cast<Index>(data.size()) / frame;
  HEED_CHECK(count > 0, "{}: has no samples", name);
  Wave wave{format.rate, {}};
  wave.samples.reserve(static_cast<std::size_t>(count));
  const char* at = data.data();
  for (Index i = 0; i < count; ++i) {
    double sum = 0;
    for (Index channel = 0; channel < format.channels; ++channel, at += format.sample_bytes) {
      sum += sample_at(at, format);
    }
    wave.samples.push_back(static_cast<float>(sum / static_cast<double>(format.channels)));
    HEED_CHECK(std::isfinite(wave.samples.back()), "{}: its sample {} is not finite", name, i);
  }
  return wave;
}

}  // namespace

Wave parse_wave(std::string_view bytes, std::string_view name) {
  constexpr std::size_t kHeader = 12, kChunkHeader = 8;
  HEED_CHECK(bytes.size() >= kHeader && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WAVE",
             "{}: is not a WAV file", name);
  std::optional<Format> format;
  for (std::size_t at = kHeader; at + kChunkHeader <= bytes.size();) {
    const std::string_view kind = bytes.substr(at, 4);
    const std::size_t size = number_at<std::uint32_t>(bytes.data() + at + 4);
    const std::string_view chunk = bytes.substr(at + kChunkHeader, size);  // or what is there of it
    if (kind == "data") {
      HEED_CHECK(format.has_value(), "{}: has samples before their format", name);
      return parse_samples(chunk, *format, name);
    }
    if (kind == "fmt ") format = parse_format(chunk, name);
    at += kChunkHeader + size + size % 2;  // chunks begin at even bytes
  }
  fail("{}: is a WAV file without {}", name, format ? "samples" : "a format");
}

Wave read_wave(const std::filesystem::path& path) { return parse_wave(read_file(path), path.string()); }

}  // namespace heed
