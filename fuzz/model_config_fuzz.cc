// config.json: what was read and is written again reads the same; of a configuration that makes sense, a small model
// can be made, which holds at least the weights that the configuration counts.
#include "heed/models/model_config.h"

#include <cmath>

#include "property.h"

namespace heed::fuzz {
namespace {

constexpr double kMostWeights = 20000;  // of a model that is made, which takes time

void check_model(const ModelConfig& config) {
  const auto model = taken([&] {
    Rng rng(0);
    return make_model(config, rng);
  });
  if (!model) return;
  double elements = 0;
  for (const auto& [name, var] : (*model)->parameters()) elements += static_cast<double>(var.value().size());
  require(config.weight_count() <= elements, "a model has at least the weights that its configuration counts");
}

void check(std::string_view text) {
  const auto config = taken([&] { return model_config_from_json(Json::parse(text, "input")); });
  if (!config) return;
  const std::string written = to_json(*config).dump(2);
  require(to_json(model_config_from_json(Json::parse(written, "written"))).dump(2) == written,
          "what is written reads the same");

  const bool makes_sense = taken([&] {
                             config->check();
                             return true;
                           }).has_value();
  if (!makes_sense) return;
  const double weights = config->weight_count();
  require(std::isfinite(weights) && weights > 0, "a configuration that makes sense has weights");
  if (weights <= kMostWeights) check_model(*config);
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check(heed::fuzz::bytes_of(data, size));
  return 0;
}
