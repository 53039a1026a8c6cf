// Counter-based random numbers: a value is a pure function of (seed, stream, counter), so threads and order cannot
// change it.
//
//   PhiloxBlock block = philox(seed, stream, counter);          // 128 random bits
//   Rng rng(seed); float u = rng.uniform(); Index i = rng.below(10);
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "heed/base/index.h"

namespace heed {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): key = seed, counter = (counter,
// stream).
PhiloxBlock philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter);

// A sequence of draws from one stream of philox. Its whole state is (seed, stream, position), which a checkpoint can
// keep.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t position = 0)
      : seed_(seed), stream_(stream), position_(position) {}

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }
  std::uint64_t position() const { return position_; }

  // 64 random bits; each draw below consumes exactly one position (normal consumes one too).
  std::uint64_t next();
  // Uniform in [0, 1), 53 random bits.
  double uniform();
  // Standard normal (Box-Muller).
  double normal();
  // Uniform integer in [0, bound), bound >= 1, without modulo bias worth naming (128-bit multiply).
  Index below(Index bound);
  // Fisher-Yates shuffle.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (Index i = static_cast<Index>(items.size()) - 1; i > 0; --i) std::swap(items[i], items[below(i + 1)]);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t position_;
};

}  // namespace heed
