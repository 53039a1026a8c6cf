#include "heed/io/number_range.h"

#include "heed/base/check.h"

namespace heed {
namespace {

template <typename Number>
void check_number(const NumberRange& range, std::string_view what, std::string_view name, Number value) {
  HEED_CHECK(range.contains(static_cast<double>(value)), "{}: {} must be {}, but is {}", what, name,
             range.text().empty() ? "finite" : range.text(), value);
}

}  // namespace

bool NumberRange::contains(double value) const {
  return (with_least_ ? value >= least_ : value > least_) && (with_most_ ? value <= most_ : value < most_);
}

std::string NumberRange::text() const {
  if (least_ == -kNoBound) return {};
  if (!with_least_) return fmt::format("above {}", least_);
  if (most_ == kNoBound) return fmt::format("from {} up", least_);
  return fmt::format("from {} to {}{}", least_, with_most_ ? "" : "below ", most_);
}

void NumberRange::check(std::string_view what, std::string_view name, std::int64_t value) const {
  check_number(*this, what, name, value);
}
void NumberRange::check(std::string_view what, std::string_view name, float value) const {
  check_number(*this, what, name, value);
}
void NumberRange::check(std::string_view what, std::string_view name, double value) const {
  check_number(*this, what, name, value);
}

}  // namespace heed
