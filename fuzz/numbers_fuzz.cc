// Numbers on the command line: one that is taken lies in its range, and reads the same when it is written again.
#include "../cli/numbers.h"

#include "property.h"

namespace heed::fuzz {
namespace {

template <NumberField T>
std::optional<T> read(std::string_view text, NumberRange range) {
  try {
    return cli::read_number<T>("--option", text, range);
  } catch (const CLI::ValidationError& error) {
    require_message(error.what());
    return std::nullopt;
  }
}

template <NumberField T>
void check_numbers(std::string_view text, NumberRange range) {
  const std::optional<T> value = read<T>(text, range);
  if (!value) return;
  require(range.contains(static_cast<double>(*value)), "a number lies in its range");
  require(read<T>(fmt::format("{}", *value), range) == value, "what is written reads the same");
}

void check_numbers(std::string_view text) {
  for (const NumberRange range : {NumberRange(), NumberRange::from(1, 1000), NumberRange::from_below(0, 1),
                                  NumberRange::at_least(0), NumberRange::above(0), NumberRange::from(-5, 0x1p60)}) {
    check_numbers<int>(text, range);
    check_numbers<Index>(text, range);
    check_numbers<std::uint64_t>(text, range);
    check_numbers<double>(text, range);
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_numbers(heed::fuzz::bytes_of(data, size));
  return 0;
}
