// llama2.c's files: what is taken says what its tensors are, and is recognised; and its vocabularies.
#include "heed/io/llama2c.h"

#include "checkpoint_property.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_llama2c(std::string_view bytes) {
  const auto file = taken([&] { return parse_llama2c(std::make_shared<MappedFile>(std::string(bytes), "input")); });
  if (file) {
    require(looks_like_llama2c(bytes), "what is taken is recognised");
    require_tensors(*file);
  }
  const auto vocabulary = taken([&] { return parse_llama2c_vocabulary(bytes, "input"); });
  require(!vocabulary || vocabulary->pieces.size() == vocabulary->scores.size(), "every piece has a score");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_llama2c(heed::fuzz::bytes_of(data, size));
  return 0;
}
