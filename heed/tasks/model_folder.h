// A model is one folder: config.json, model.safetensors, and the vocabulary; or what another toolkit keeps a model in.
//
//   ModelFolder model = load_model_folder("model");             // or "gpt2", "stories260K.gguf"
//   model.source_ids("Guten Morgen.");
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/layers/parameters.h"
#include "heed/models/model_config.h"
#include "heed/tasks/text_codec.h"

namespace heed {

// A model without what is around a text.
struct BareModel {
  ModelConfig config;
  std::unique_ptr<SequenceModel> model;
  ParameterList parameters;
  std::filesystem::path path;  // what it was opened from

  // What errors call it.
  std::string name() const { return path.empty() ? "the model" : path.string(); }
};

// About as many tokens as a batch holds where nobody says otherwise.
inline constexpr Index kBatchTokens = 2048;

struct ModelFolder : TextCodec, BareModel {};

// What the model at a path is, without its numbers: an adapter's is its base's. Throws heed::Error as load_model_folder
// does.
ModelConfig describe_model_folder(const std::filesystem::path& path);

// Whether texts are what the model reads, or, of one that tells what a picture shows, writes: not of one that tells a
// picture's class (heed/tasks/picture_classifier.h), nor of one that hears (heed/tasks/transcribe.h).
bool handles_text(const ModelConfig& config);

// Throws heed::Error that says which command is for it where the model at the path handles no text.
void check_handles_text(const ModelConfig& config, const std::filesystem::path& path);

// The model alone, of a folder of heed's own that is no adapter or of what open_pretrained reads. Throws heed::Error
// likewise.
BareModel load_bare_model(const std::filesystem::path& path);

// Reads a folder of heed's own, an adapter's (heed/tasks/adapter_folder.h), or what open_pretrained reads. Throws
// heed::Error that names the file and what is wrong with it: not a model, a broken file, a configuration that does not
// match the weights or the vocabulary, a model that handles no text, a language that it has not (TextCodec::choose).
ModelFolder load_model_folder(const std::filesystem::path& path, const Languages& languages = {});

// Every name that a vocabulary's file may have in a model's folder, whether it is there or not.
std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder);
// Writes the vocabulary: vocabulary.* where it is joint, source.* and target.* otherwise; others of these names go.
void save_vocabularies(const std::filesystem::path& folder, const Vocabulary& source, const Vocabulary& target);
// Reads it.
Vocabularies load_vocabularies(const std::filesystem::path& folder);
// That of any model: of heed's own, or what open_vocabularies reads.
Vocabularies vocabularies_of(const std::filesystem::path& path);

// What config.json holds: the configuration, and of others what there is around a text.
Json folder_config(const ModelConfig& config, const TextCodec& codec = {});
void save_model_config(const std::filesystem::path& folder, const ModelConfig& config, const TextCodec& codec = {});

}  // namespace heed
