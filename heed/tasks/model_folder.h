// A model is one folder: config.json, model.safetensors, and the vocabulary; or what another toolkit keeps a model in.
//
//   ModelFolder model = load_model_folder("model");             // or "gpt2", "stories260K.gguf"
//   model.source_ids("Guten Morgen.");
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "heed/decode/search.h"
#include "heed/layers/parameters.h"
#include "heed/models/model_config.h"
#include "heed/text/vocabulary.h"

namespace heed {

struct ModelFolder {
  ModelConfig config;
  std::unique_ptr<SequenceModel> model;
  ParameterList parameters;
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // one object where the vocabulary is joint

  // What batches put around a text's ids, and what decoding begins and ends with. heed's own models have a begin and an
  // end token around every text. For others (`templated`) the vocabulary's template puts what it puts,
  // which is in the ids already; only the target of a translation has a begin and an end token.
  SymbolIds source_symbols = kOwnSymbols, target_symbols = kOwnSymbols;
  SpecialTokens special{};
  bool templated = false;

  // The ids of a source, and of a target or of a language model's text, for batches with those symbols around them.
  std::vector<int> source_ids(std::string_view text) const;
  std::vector<int> target_ids(std::string_view text) const;
  // What a language model reads before it goes on: never empty.
  std::vector<int> prompt_ids(std::string_view text) const;
};

// Reads a folder of heed's own, or what open_pretrained reads. Throws heed::Error that names the file and what is wrong
// with it: not a model, a broken file, a configuration that does not match the weights or the vocabulary.
ModelFolder load_model_folder(const std::filesystem::path& path);

// Every name that a vocabulary's file may have in a model's folder, whether it is there or not.
std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder);
// Writes the vocabulary: vocabulary.* where it is joint, source.* and target.* otherwise; others of these names go.
void save_vocabularies(const std::filesystem::path& folder, const Vocabulary& source, const Vocabulary& target);
// Reads it; both are one object where it is joint.
void load_vocabularies(const std::filesystem::path& folder, std::shared_ptr<const Vocabulary>& source,
                       std::shared_ptr<const Vocabulary>& target);

void save_model_config(const std::filesystem::path& folder, const ModelConfig& config);

}  // namespace heed
