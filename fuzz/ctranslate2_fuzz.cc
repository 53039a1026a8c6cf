// CTranslate2's files: what is taken says what its tensors are.
#include "heed/io/ctranslate2.h"

#include "checkpoint_property.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_ctranslate2(std::string_view bytes) {
  const auto file = taken([&] { return parse_ctranslate2(std::make_shared<MappedFile>(std::string(bytes), "input")); });
  if (!file) return;
  require_tensors(*file);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_ctranslate2(heed::fuzz::bytes_of(data, size));
  return 0;
}
