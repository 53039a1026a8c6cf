// config.json of models that others trained, of every family: what is made of it is a configuration like heed's own.
#include "config_property.h"
#include "heed/io/fields.h"
#include "heed/pretrained/family.h"
#include "heed/pretrained/generation_options.h"
#include "heed/pretrained/generation_tokens.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_family_config(std::string_view text) {
  const auto json = taken([&] { return Json::parse(text, "input"); });
  if (!json) return;
  auto family = taken([&] { return describe_model(*json); });
  if (!family) return;
  taken([&] {
    read_generation_tokens(*json, generation_file(*json), *family);
    read_generation_options(*json, *family);
    return true;
  });
  check_ranges(family->decoding.search, "search");
  check_ranges(family->decoding.sampling, "sampling");
  check_transformer(family->config);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_family_config(heed::fuzz::bytes_of(data, size));
  return 0;
}
