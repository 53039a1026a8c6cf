// A sequence of choices, from a seed or from the bytes that a fuzzer hands over.
//
//   Choices choices(7);                                     // or Choices(bytes)
//   const Index heads = choices.of({1, 2, 4});
//   if (choices.one_in(3)) spec.mask = Mask::causal();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "heed/base/index.h"
#include "heed/base/random.h"

namespace heed::testing {

// Where the bytes are used up every choice is the first one, so a generator that puts its plainest choice first makes
// small problems of short inputs.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : rng_(seed, 0xC401), endless_(true) {}
  explicit Choices(std::span<const std::uint8_t> bytes) : rng_(0), bytes_(bytes), endless_(false) {}

  // A number in [0, bound), 1 <= bound <= 65536.
  Index below(Index bound);
  // False where the bytes are used up; in >= 2.
  bool one_in(Index in) { return below(in) == in - 1; }
  template <typename T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<Index>(values.size()))];
  }
  // A seed for numbers whose values do not matter one by one.
  std::uint64_t seed() { return static_cast<std::uint64_t>(below(65536)); }

 private:
  Rng rng_;
  std::span<const std::uint8_t> bytes_;
  bool endless_;
};

}  // namespace heed::testing
