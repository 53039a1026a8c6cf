// Numpy's files: both readers agree, and what was read and is written again reads the same.
#include "heed/io/npy.h"

#include <algorithm>

#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

void check_npy(std::string_view bytes) {
  const auto array = taken([&] { return parse_npy_array(bytes, "input"); });
  const auto tensor = taken([&] { return parse_npy(bytes, "input"); });
  require(array.has_value() == (tensor.has_value() || (array && array->shape.size() > kMaxRank)),
          "only the limit on the rank is between the two readers");
  if (!tensor) return;
  require(std::ranges::equal(array->shape, std::span(tensor->view().shape).first(tensor->rank())),
          "both readers see the same shape");
  require(same(tensor->reshape({tensor->size()}), array->elements), "both readers see the same elements");

  const std::filesystem::path file = scratch_folder() / "written.npy";
  write_npy(file, *tensor);
  require(same(read_npy(file), *tensor), "what is written reads the same");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_npy(heed::fuzz::bytes_of(data, size));
  return 0;
}
