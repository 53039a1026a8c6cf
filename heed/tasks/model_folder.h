// A model is one folder: config.json, model.safetensors, and the vocabulary.
//
//   ModelFolder model = load_model_folder("model");
//   model.source_vocabulary->encode("Guten Morgen.");
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "heed/layers/parameters.h"
#include "heed/models/model_config.h"
#include "heed/text/vocabulary.h"

namespace heed {

struct ModelFolder {
  ModelConfig config;
  std::unique_ptr<SequenceModel> model;
  ParameterList parameters;
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // one object where the vocabulary is joint
};

// Reads the folder. Throws heed::Error that names the file and what is wrong with it: not a model folder, a broken
// file, a configuration that does not match the weights or the vocabulary.
ModelFolder load_model_folder(const std::filesystem::path& folder);

// Every name that a vocabulary's file may have in a model's folder, whether it is there or not.
std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder);
// Writes the vocabulary: vocabulary.* where it is joint, source.* and target.* otherwise; others of these names go.
void save_vocabularies(const std::filesystem::path& folder, const Vocabulary& source, const Vocabulary& target);
// Reads it; both are one object where it is joint.
void load_vocabularies(const std::filesystem::path& folder, std::shared_ptr<const Vocabulary>& source,
                       std::shared_ptr<const Vocabulary>& target);

void save_model_config(const std::filesystem::path& folder, const ModelConfig& config);

}  // namespace heed
