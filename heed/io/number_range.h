// The values that an option which is a number may have.
//
//   constexpr NumberRange kProbability = NumberRange::from_below(0, 1);
//   kProbability.contains(1.0) == false;
//   kProbability.text() == "from 0 to below 1";          // "dropout must be from 0 to below 1, but is 1"
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

// All values but infinities and NaN, unless it is made by one of its functions.
class NumberRange {
 public:
  constexpr NumberRange() = default;
  // least <= value <= most
  static constexpr NumberRange from(double least, double most) { return {least, most, true, true}; }
  // least <= value < most
  static constexpr NumberRange from_below(double least, double most) { return {least, most, true, false}; }
  static constexpr NumberRange at_least(double least) { return {least, kNoBound, true, false}; }
  static constexpr NumberRange above(double least) { return {least, kNoBound, false, false}; }

  // False for NaN and the infinities.
  bool contains(double value) const;
  // "from 1 to 1024", "from 0 to below 1", "from 1 up", "above 0"; empty where every value is allowed.
  std::string text() const;
  // Throws heed::Error, "Transformer: layers must be from 1 to 1024, but is 0", where the value is not contained.
  void check(std::string_view what, std::string_view name, std::int64_t value) const;
  void check(std::string_view what, std::string_view name, float value) const;
  void check(std::string_view what, std::string_view name, double value) const;

 private:
  static constexpr double kNoBound = std::numeric_limits<double>::infinity();

  constexpr NumberRange(double least, double most, bool with_least, bool with_most)
      : least_(least), most_(most), with_least_(with_least), with_most_(with_most) {}

  double least_ = -kNoBound, most_ = kNoBound;
  bool with_least_ = false, with_most_ = false;
};

}  // namespace heed
