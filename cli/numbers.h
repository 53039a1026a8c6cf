// Numbers on the command line, all read in one way: the whole argument is a plain decimal number ("10", "010", "-2",
// "0.5", "5e-1"; not "", " 5", "0x10", "1,5", "+5"), it is finite, it fits its type and lies in the option's range.
//
//   add_number(command, "--beam", beam, "Hypotheses that the search keeps.", NumberRange::from(1, kWidestBeam));
//
// Anything else is wrong usage: "--beam: must be an integer from 1 to 1000, but is many".
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/fields.h"

namespace heed::cli {

// Throws CLI::ValidationError that names the option.
std::int64_t read_integer(std::string_view option, std::string_view text, NumberRange range, std::int64_t least,
                          std::int64_t most);
double read_real(std::string_view option, std::string_view text, NumberRange range);

template <NumberField T>
T read_number(std::string_view option, std::string_view text, NumberRange range = {}) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(read_real(option, text, range));
  } else {
    using Limits = std::numeric_limits<T>;
    const auto most = std::in_range<std::int64_t>(Limits::max()) ? static_cast<std::int64_t>(Limits::max())
                                                                 : std::numeric_limits<std::int64_t>::max();
    return static_cast<T>(read_integer(option, text, range, static_cast<std::int64_t>(Limits::min()), most));
  }
}

// The items of a list with commas between them: "1,3" is 1 and 3, and "" one item of nothing.
std::vector<std::string_view> split_at_commas(std::string_view text);

template <NumberField T>
std::string number_type() {
  return std::integral<T> ? "INT" : "FLOAT";
}

// Adds an option that gives its number to `take`.
template <NumberField T>
CLI::Option* add_number(CLI::App& command, const std::string& name, std::function<void(T)> take, const std::string& doc,
                        NumberRange range = {}) {
  return command
      .add_option_function<std::string>(
          name,
          [name, take = std::move(take), range](const std::string& text) { take(read_number<T>(name, text, range)); },
          doc)
      ->type_name(number_type<T>());
}

// Adds an option that sets `value`, whose default the help shows.
template <NumberField T>
CLI::Option* add_number(CLI::App& command, const std::string& name, T& value, const std::string& doc,
                        NumberRange range = {}) {
  return add_number<T>(
             command, name, [&value](T given) { value = given; }, doc, range)
      ->default_str(fmt::format("{}", value));
}

template <NumberField T>
CLI::Option* add_number(CLI::App& command, const std::string& name, std::optional<T>& value, const std::string& doc,
                        NumberRange range = {}) {
  return add_number<T>(
      command, name, [&value](T given) { value = given; }, doc, range);
}

}  // namespace heed::cli
