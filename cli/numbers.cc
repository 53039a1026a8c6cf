#include "numbers.h"

#include <algorithm>

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "heed/base/printable.h"

namespace heed::cli {
namespace {

constexpr std::size_t kShownBytes = 40;

// The number that the whole text is; none where it is no number.
template <typename T>
std::optional<T> whole_number(std::string_view text, std::errc& problem) {
  T value{};
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  problem = result.ec;
  if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) return {};
  return value;
}

[[noreturn]] void refuse(std::string_view option, std::string_view kind, const std::string& rule,
                         std::string_view text) {
  throw CLI::ValidationError(std::string(option),
                             fmt::format("must be {}{}{}, but is {}", kind, rule.empty() ? "" : " ", rule,
                                         text.empty() ? "empty" : printable(text, kShownBytes)));
}

}  // namespace

std::int64_t read_integer(std::string_view option, std::string_view text, NumberRange range, std::int64_t least,
                          std::int64_t most) {
  std::errc problem{};
  const std::optional<std::int64_t> value = whole_number<std::int64_t>(text, problem);
  if (!value) refuse(option, "an integer", range.text(), text);
  const bool negative = text.starts_with('-');
  const double number = problem == std::errc() ? static_cast<double>(*value) : negative ? -0x1p63 : 0x1p63;
  if (!range.contains(number)) refuse(option, "an integer", range.text(), text);
  if (problem != std::errc() || *value < least || *value > most) {  // it does not fit its type
    refuse(option, "an integer", negative ? fmt::format("from {} up", least) : fmt::format("up to {}", most), text);
  }
  return *value;
}

double read_real(std::string_view option, std::string_view text, NumberRange range) {
  std::errc problem{};
  const std::optional<double> value = whole_number<double>(text, problem);
  if (!value || problem != std::errc() || !range.contains(*value)) {
    const std::string rule = range.text();
    refuse(option, rule.empty() ? "a finite number" : "a number", rule, text);
  }
  return *value;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> items;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    items.push_back(text.substr(0, end));
    if (end == text.size()) return items;
    text.remove_prefix(end + 1);
  }
}

}  // namespace heed::cli
