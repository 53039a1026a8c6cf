#include "heed/io/number_range.h"

#include <fmt/format.h>

namespace heed {

bool NumberRange::contains(double value) const {
  return (with_least_ ? value >= least_ : value > least_) && (with_most_ ? value <= most_ : value < most_);
}

std::string NumberRange::text() const {
  if (least_ == -kNoBound) return {};
  if (!with_least_) return fmt::format("above {}", least_);
  if (most_ == kNoBound) return fmt::format("from {} up", least_);
  return fmt::format("from {} to {}{}", least_, with_most_ ? "" : "below ", most_);
}

}  // namespace heed
