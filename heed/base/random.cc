#include "heed/base/random.h"

#include <cmath>
#include <numbers>

namespace heed {

PhiloxBlock philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  std::uint32_t c0 = static_cast<std::uint32_t>(counter);
  std::uint32_t c1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(stream);
  std::uint32_t c3 = static_cast<std::uint32_t>(stream >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
    const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

std::uint64_t Rng::next() {
  const PhiloxBlock block = philox(seed_, stream_, position_++);
  return (std::uint64_t{block[1]} << 32) | block[0];
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  const PhiloxBlock block = philox(seed_, stream_, position_++);
  const double u1 = (block[0] + 1.0) * 0x1.0p-32;  // in (0, 1]: the logarithm is finite
  const double u2 = block[1] * 0x1.0p-32;
  return std::sqrt(-2.0 * std::log(u1)) * std::cos(2.0 * std::numbers::pi * u2);
}

Index Rng::below(Index bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<Index>((Wide{next()} * static_cast<std::uint64_t>(bound)) >> 64);
}

}  // namespace heed
