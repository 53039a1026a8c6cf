// Any model by its configuration: what config.json holds, and what makes the model that it describes.
#pragma once

#include <memory>

#include "heed/io/json.h"
#include "heed/models/rnn.h"
#include "heed/models/sequence_model.h"
#include "heed/models/transformer.h"

namespace heed {

enum class ModelKind { transformer, rnn };
inline constexpr std::pair<std::string_view, ModelKind> kModelKindNames[] = {{"transformer", ModelKind::transformer},
                                                                             {"rnn", ModelKind::rnn}};
inline std::span<const std::pair<std::string_view, ModelKind>> enum_names(ModelKind) { return kModelKindNames; }

// Only the configuration that `kind` names has a meaning.
struct ModelConfig {
  ModelKind kind = ModelKind::transformer;
  TransformerConfig transformer;
  RnnConfig rnn;

  void set_vocabularies(Index source, Index target);
  // Rows of the embeddings of the source, and of the target; a Transformer without an encoder, or a decoder, has the
  // same for both.
  Index source_vocabulary() const;
  Index target_vocabulary() const;
  // Whether it reads a source and writes a target.
  bool translates() const;
  // Throws heed::Error naming the field that makes no sense.
  void check() const;
  // The most tokens of a sentence, with its end token.
  Index max_length() const;
  // Whether source and target share one embedding table, so that they need one vocabulary.
  bool share_embeddings() const;
};

// {"model": "transformer", "config": {...}}.
Json to_json(const ModelConfig& config);
// Passes over "text", which the folder of another's model has beside these. Throws heed::Error naming the place for an
// unknown model, an unknown or missing field, and a value of the wrong type.
ModelConfig model_config_from_json(const Json& json);

// The model with the scope's parameters. Throws heed::Error for a configuration that makes no sense.
std::unique_ptr<SequenceModel> make_model(const ParameterScope& scope, const ModelConfig& config);

}  // namespace heed
