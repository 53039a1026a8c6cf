// config.json of heed's own models.
#include "config_property.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_model_config(std::string_view text) {
  const auto config = taken([&] { return model_config_from_json(Json::parse(text, "input")); });
  if (config) check_config(*config);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_model_config(heed::fuzz::bytes_of(data, size));
  return 0;
}
