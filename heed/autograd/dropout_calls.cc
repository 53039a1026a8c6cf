#include "heed/autograd/dropout_calls.h"

#include "heed/base/random.h"

namespace heed {
namespace {

constexpr std::uint64_t kDropoutStream = 0x64726f7000000000;  // "drop"

}  // namespace

// The key's stream is 64 random bits, so that those of two places, which may be close, have nothing in common.
DropoutKey DropoutCalls::next() {
  const std::uint64_t counter = (static_cast<std::uint64_t>(place_.micro_batch) << 32) | calls_++;
  const PhiloxBlock block = philox(place_.seed, kDropoutStream + static_cast<std::uint64_t>(place_.update), counter);
  return {place_.seed, (std::uint64_t{block[1]} << 32) | block[0]};
}

}  // namespace heed
