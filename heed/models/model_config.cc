#include "heed/models/model_config.h"

#include "heed/base/check.h"
#include "heed/io/fields.h"

namespace heed {
namespace {

// Calls f on the configuration that config.kind names.
template <typename Config, typename F>
decltype(auto) visit_chosen(Config& config, F&& f) {
  switch (config.kind) {
    case ModelKind::transformer:
      return f(config.transformer);
    case ModelKind::rnn:
      return f(config.rnn);
  }
  fail("ModelConfig: kind {} is none", static_cast<int>(config.kind));
}

}  // namespace

void ModelConfig::set_vocabularies(Index source, Index target) {
  visit_chosen(*this, [&](auto& chosen) {
    chosen.source_vocabulary = source;
    chosen.target_vocabulary = target;
  });
}

Index ModelConfig::source_vocabulary() const {
  if (kind == ModelKind::transformer && !transformer.has_encoder()) return transformer.target_vocabulary;
  return visit_chosen(*this, [](const auto& chosen) { return chosen.source_vocabulary; });
}

Index ModelConfig::target_vocabulary() const {
  if (kind == ModelKind::transformer && !transformer.has_decoder()) return transformer.source_vocabulary;
  return visit_chosen(*this, [](const auto& chosen) { return chosen.target_vocabulary; });
}

bool ModelConfig::translates() const {
  return kind == ModelKind::rnn || (transformer.has_encoder() && transformer.has_decoder());
}

void ModelConfig::check() const {
  visit_chosen(*this, [](const auto& chosen) { chosen.check(); });
}

Index ModelConfig::max_length() const {
  return visit_chosen(*this, [](const auto& chosen) { return chosen.max_length; });
}

bool ModelConfig::share_embeddings() const {
  return visit_chosen(*this, [](const auto& chosen) { return chosen.share_embeddings; });
}

Json to_json(const ModelConfig& config) {
  const Json fields = visit_chosen(config, [](const auto& chosen) { return to_json(chosen); });
  return Json::object({{"model", field_to_json(config.kind)}, {"config", fields}});
}

ModelConfig model_config_from_json(const Json& json) {
  json.allow_only({"model", "config", "text"});
  ModelConfig config;
  field_from_json(json["model"], config.kind, Missing::refuse);
  if (config.kind == ModelKind::transformer) {
    config.transformer = transformer_config_from_json(json["config"]);
  } else {
    from_json(json["config"], config.rnn);
  }
  return config;
}

std::unique_ptr<SequenceModel> make_model(const ParameterScope& scope, const ModelConfig& config) {
  switch (config.kind) {
    case ModelKind::transformer:
      return std::make_unique<Transformer>(scope, config.transformer);
    case ModelKind::rnn:
      return std::make_unique<RnnTranslator>(scope, config.rnn);
  }
  fail("make_model: kind {} is none", static_cast<int>(config.kind));
}

}  // namespace heed
