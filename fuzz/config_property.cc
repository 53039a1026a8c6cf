#include "config_property.h"

#include <cmath>

#include "heed/layers/drawn_parameters.h"
#include "heed/layers/listed_parameters.h"
#include "property.h"

namespace heed::fuzz {
namespace {

constexpr double kMostWeights = 20000;  // of a model that is made, which takes time

double weight_count(const std::vector<ParameterShape>& parameters) {
  double count = 0;
  for (const ParameterShape& parameter : parameters) {
    double elements = 1;
    for (Index extent : parameter.shape) elements *= static_cast<double>(extent);
    count += elements;
  }
  return count;
}

void check_model(const ModelConfig& config) {
  ListedParameters listed;
  const bool makes_sense = taken([&] { return make_model(listed, config); }).has_value();
  if (!makes_sense) return;
  const double weights = weight_count(listed.shapes());
  require(std::isfinite(weights) && weights > 0, "a configuration that makes sense has weights");
  if (weights > kMostWeights) return;
  DrawnParameters drawn(Rng(0));
  make_model(drawn, config);
  require(drawn.shapes() == listed.shapes(), "a model has the parameters that are listed");
}

}  // namespace

void check_config(const ModelConfig& config) {
  const std::string written = to_json(config).dump(2);
  require(to_json(model_config_from_json(Json::parse(written, "written"))).dump(2) == written,
          "what is written reads the same");
  check_model(config);
}

void check_transformer(const TransformerConfig& config) {
  ModelConfig whole;
  whole.transformer = config;
  if (taken([&] { return model_config_from_json(to_json(whole)).kind; })) check_config(whole);
}

}  // namespace heed::fuzz
