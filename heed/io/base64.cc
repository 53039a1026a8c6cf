#include "heed/io/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> digit_values() {
  std::array<std::uint8_t, 256> values{};
  for (std::uint8_t& value : values) value = kNoDigit;
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t held = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < held ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) text += i <= held ? kDigits[bits >> (18 - 6 * i) & 63u] : '=';
  }
  return text;
}

std::string base64_bytes(std::string_view text, std::string_view name) {
  static constexpr std::array<std::uint8_t, 256> kValues = digit_values();
  HEED_CHECK(text.size() % 4 == 0, "{}: base64 comes in fours, but there are {} characters", name, text.size());
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const std::size_t padding = !last || text[at + 3] != '=' ? 0 : text[at + 2] == '=' ? 2 : 1;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t value = i < 4 - padding ? kValues[static_cast<unsigned char>(text[at + i])] : 0;
      HEED_CHECK(value != kNoDigit, "{}: character {} is not base64", name, at + i + 1);
      bits = bits << 6 | value;
    }
    HEED_CHECK(padding == 0 || (bits & (padding == 2 ? 0xFFFFu : 0xFFu)) == 0,
               "{}: the last character holds bits of no byte", name);
    for (std::size_t i = 0; i < 3 - padding; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xFFu);
  }
  return bytes;
}

}  // namespace heed
