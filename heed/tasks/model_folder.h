// A model is one folder: config.json, model.safetensors, and the vocabulary; or what another toolkit keeps a model in.
//
//   ModelFolder model = load_model_folder("model");             // or "gpt2", "stories260K.gguf"
//   model.source_ids("Guten Morgen.");
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "heed/layers/parameters.h"
#include "heed/models/model_config.h"
#include "heed/tasks/text_codec.h"

namespace heed {

struct ModelFolder : TextCodec {
  ModelConfig config;
  std::unique_ptr<SequenceModel> model;
  ParameterList parameters;
};

// Reads a folder of heed's own, an adapter's (heed/tasks/adapter_folder.h), or what open_pretrained reads. Throws
// heed::Error that names the file and what is wrong with it: not a model, a broken file, a configuration that does not
// match the weights or the vocabulary.
ModelFolder load_model_folder(const std::filesystem::path& path);

// Every name that a vocabulary's file may have in a model's folder, whether it is there or not.
std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder);
// Writes the vocabulary: vocabulary.* where it is joint, source.* and target.* otherwise; others of these names go.
void save_vocabularies(const std::filesystem::path& folder, const Vocabulary& source, const Vocabulary& target);
// Reads it.
Vocabularies load_vocabularies(const std::filesystem::path& folder);

// What config.json holds: the configuration, and of others what there is around a text.
Json folder_config(const ModelConfig& config, const TextCodec& codec = {});
void save_model_config(const std::filesystem::path& folder, const ModelConfig& config, const TextCodec& codec = {});

}  // namespace heed
