// Which attention weights dropout keeps: a pure function of (seed, stream, b, h, i, j), so that backward draws it
// again, and neither threads, padding nor the algorithm can change it.
//
//   DropoutMask mask(spec.dropout);
//   DropoutRow row = mask.row(b, h, i);
//   double kept = row.keeps(j) ? weight * mask.scale() : 0;
#pragma once

#include <cmath>
#include <cstdint>

#include "heed/base/index.h"
#include "heed/base/random.h"
#include "heed/ops/attention/spec/spec.h"

namespace heed {

// One row of weights. Key j uses 16 bits of philox(seed, stream of the head, i * 2^32 + j / 8): the low (j even) or
// high (j odd) half of word j % 8 / 2. It is kept where they are at least the threshold.
struct DropoutRow {
  std::uint64_t seed, stream, counter;
  std::uint32_t threshold;

  bool keeps(Index j) const {
    const std::uint64_t at = static_cast<std::uint64_t>(j);
    const std::uint32_t word = philox(seed, stream, counter + at / 8)[at % 8 / 2];
    return (at % 2 == 0 ? word & 0xFFFFu : word >> 16) >= threshold;
  }
};

class DropoutMask {
 public:
  DropoutMask() = default;
  // Batch element 0 of the call is `first_batch` of the stream.
  explicit DropoutMask(const Dropout& dropout, Index first_batch = 0)
      : seed_(dropout.seed),
        stream_(dropout.stream),
        first_batch_(first_batch),
        threshold_(static_cast<std::uint32_t>(std::lround(dropout.probability * 65536.0))) {}

  bool active() const { return threshold_ > 0; }
  // A weight is dropped with probability threshold / 2^16: the asked one rounded to 16 bits.
  std::uint32_t threshold() const { return threshold_; }
  // What a kept weight is multiplied by, so that the expectation stays.
  double scale() const { return 65536.0 / (65536.0 - threshold_); }
  std::uint64_t seed() const { return seed_; }
  // The stream of head h of batch element b: 64 bits of philox(seed, stream, b * 2^32 + h).
  std::uint64_t head_stream(Index b, Index h) const {
    const PhiloxBlock block =
        philox(seed_, stream_, (static_cast<std::uint64_t>(first_batch_ + b) << 32) + static_cast<std::uint64_t>(h));
    return (std::uint64_t{block[1]} << 32) | block[0];
  }
  DropoutRow row(Index b, Index h, Index i) const {
    return {seed_, head_stream(b, h), static_cast<std::uint64_t>(i) << 32, threshold_};
  }

 private:
  std::uint64_t seed_ = 0, stream_ = 0;
  Index first_batch_ = 0;
  std::uint32_t threshold_ = 0;
};

}  // namespace heed
