// Arrays for `heed explain`: what was read as numbers, or as a mask, and is written as rows of text reads the same.
#include "heed/tasks/explain/named_array.h"

#include <fmt/core.h>

#include "property.h"

namespace heed::fuzz {
namespace {

// As rows of text, whatever the rank.
std::string rows_of_text(const Tensor& numbers) {
  std::string text;
  const Index columns = numbers.dim(numbers.rank() - 1);
  for (Index i = 0; i < numbers.size(); ++i) {
    text += fmt::format("{}{}", numbers.data<double>()[i], (i + 1) % columns == 0 ? '\n' : ' ');
  }
  return text;
}

void check_named_array(std::string_view bytes) {
  const auto array = taken([&] { return parse_array(bytes, "input"); });
  if (!array) return;
  taken([&] { return as_allowed(*array).tensor; });
  const auto numbers = taken([&] { return as_numbers(*array).tensor; });
  if (!numbers) return;
  const Tensor again = as_numbers(parse_array(rows_of_text(*numbers), "written")).tensor;
  for (Index i = 0; i < again.size(); ++i) {
    const double one = numbers->data<double>()[i], other = again.data<double>()[i];
    require(one == other || (one != one && other != other), "what is written reads the same");
  }
  require(again.size() == numbers->size(), "no number is lost");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_named_array(heed::fuzz::bytes_of(data, size));
  return 0;
}
