// GGUF files: what is taken says what its tensors are, and where it is of a model, what is made of its metadata is a
// configuration like heed's own.
#include "heed/io/gguf.h"

#include "checkpoint_property.h"
#include "config_property.h"
#include "heed/pretrained/gguf.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_gguf(std::string_view bytes) {
  const auto file = taken([&] { return parse_gguf(std::make_shared<MappedFile>(std::string(bytes), "input")); });
  if (!file) return;
  require_tensors(*file);
  const auto family = taken([&] { return describe_gguf(*file); });
  if (family) check_transformer(family->config);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_gguf(heed::fuzz::bytes_of(data, size));
  return 0;
}
