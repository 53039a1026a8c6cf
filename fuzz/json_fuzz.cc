// JSON: a value that was read and is written again, on one line or on many, reads as an equal value.
#include "heed/io/json.h"

#include "property.h"

namespace heed::fuzz {
namespace {

void check(std::string_view text) {
  const auto value = taken([&] { return Json::parse(text, "input"); });
  if (!value) return;
  for (const int indent : {0, 2}) {
    const std::string written = value->dump(indent);
    const Json again = Json::parse(written, "written");
    require(again == *value, "what is written reads as an equal value");
    require(again.dump(indent) == written, "the same value gives the same bytes");
  }
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check(heed::fuzz::bytes_of(data, size));
  return 0;
}
