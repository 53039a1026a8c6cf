#include "heed/tasks/model_folder.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/layers/listed_parameters.h"
#include "heed/layers/loaded_parameters.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/adapter_folder.h"
#include "heed/tasks/pretrained_folder.h"
#include "heed/tasks/pretrained_vocabulary.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/sentence_modules.h"

namespace heed {
namespace {

constexpr std::string_view kJoint = "vocabulary", kSource = "source", kTarget = "target";

bool has_vocabulary(const std::filesystem::path& folder, std::string_view stem) {
  const std::vector<std::filesystem::path> paths = vocabulary_paths(folder, stem);
  return std::ranges::any_of(paths, file_exists);
}

// Rows of embeddings are as many as the vocabulary has pieces; others may have more of them, or fewer.
TextCodec load_codec(const std::filesystem::path& folder, const Json& json, const ModelConfig& config) {
  Vocabularies vocabularies = load_vocabularies(folder);
  if (json.has("text")) {
    return codec_from_json(json["text"], bounded(vocabularies, config.source_vocabulary(), config.target_vocabulary()),
                           config.translates());
  }
  const Index source = vocabularies.source->size(), target = vocabularies.target->size();
  ModelConfig of_vocabulary = config;
  of_vocabulary.set_vocabularies(source, target);
  HEED_CHECK(to_json(of_vocabulary) == to_json(config),
             "{}: does not match the vocabulary, which has {} source and {} target pieces",
             (folder / "config.json").string(), source, target);
  return codec_of(std::move(vocabularies));
}

// Of a folder that is nobody else's.
Json own_config(const std::filesystem::path& folder) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(folder, error);
  HEED_CHECK(is_folder || !error, "{}: {}", folder.string(), error.message());
  HEED_CHECK(is_folder, "{}: is not a folder", folder.string());
  for (std::string_view file : {"config.json", "model.safetensors"}) {
    HEED_CHECK(file_exists(folder / file), "{}: is not a model folder: it has no {}", folder.string(), file);
  }
  return read_json(folder / "config.json");
}

ModelFolder open_any(const std::filesystem::path& path) {
  if (is_pretrained(path)) return load_pretrained(path);
  const Json config = own_config(path);
  if (is_adapter(config)) return load_adapter(path, config);
  ModelFolder model;
  model.config = model_config_from_json(config);
  check_handles_text(model.config, path);
  static_cast<TextCodec&>(model) = load_codec(path, config, model.config);
  static_cast<BareModel&>(model) = load_bare_model(path);
  return model;
}

}  // namespace

ModelConfig describe_model_folder(const std::filesystem::path& path) {
  if (is_pretrained(path)) {
    ModelConfig config;
    config.transformer = describe_pretrained(weights_of_sentence_folder(path)).config;
    return config;
  }
  const Json config = own_config(path);
  return is_adapter(config) ? describe_model_folder(base_of_adapter(path, config)) : model_config_from_json(config);
}

bool handles_text(const ModelConfig& config) {
  if (config.kind != ModelKind::transformer) return true;
  const SignalKind signal = config.transformer.signal.kind;
  return signal == SignalKind::none || (signal == SignalKind::picture && config.transformer.has_decoder());
}

void check_handles_text(const ModelConfig& config, const std::filesystem::path& path) {
  check_purpose(handles_text(config), config, path.string(), "reads no text");
}

BareModel load_bare_model(const std::filesystem::path& path) {
  BareModel bare;
  bare.path = path;
  if (is_pretrained(path)) {
    PretrainedModel opened = open_pretrained(weights_of_sentence_folder(path));
    bare.config.transformer = opened.family.config;
    bare.model = std::move(opened.model);
    bare.parameters = std::move(opened.parameters);
    return bare;
  }
  bare.config = model_config_from_json(own_config(path));
  // Names and shapes first: a configuration with absurd extents must not make heed allocate them.
  ListedParameters listed;
  try {
    make_model(listed, bare.config);
  } catch (const Error& refused) {
    fail("{}: {}", (path / "config.json").string(), refused.what());
  }
  LoadedParameters loaded(path / "model.safetensors", listed.shapes());
  bare.model = make_model(loaded, bare.config);
  bare.parameters = loaded.list();
  return bare;
}

ModelFolder load_model_folder(const std::filesystem::path& path, const Languages& languages) {
  ModelFolder model = open_any(path);
  try {
    model.choose(languages);
  } catch (const Error& refused) {
    fail("{}: {}", path.string(), refused.what());
  }
  return model;
}

std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (std::string_view stem : {kJoint, kSource, kTarget}) {
    for (std::filesystem::path& path : vocabulary_paths(folder, stem)) files.push_back(std::move(path));
  }
  return files;
}

void save_vocabularies(const std::filesystem::path& folder, const Vocabulary& source, const Vocabulary& target) {
  // What an earlier start with other options left would be found beside what is written now.
  for (const std::filesystem::path& file : vocabulary_files(folder)) remove_file(file);
  if (&source == &target) {
    source.save(folder, kJoint);
  } else {
    source.save(folder, kSource);
    target.save(folder, kTarget);
  }
}

Vocabularies load_vocabularies(const std::filesystem::path& folder) {
  if (has_vocabulary(folder, kJoint)) {
    const std::shared_ptr<const Vocabulary> joint = load_vocabulary(folder, kJoint);
    return {joint, joint};
  }
  return {load_vocabulary(folder, kSource), load_vocabulary(folder, kTarget)};
}

Vocabularies vocabularies_of(const std::filesystem::path& path) {
  return is_pretrained(path) ? open_vocabularies(path) : load_vocabularies(path);
}

Json folder_config(const ModelConfig& config, const TextCodec& codec) {
  Json json = to_json(config);
  if (codec.templated) json.set("text", to_json(codec));
  return json;
}

void save_model_config(const std::filesystem::path& folder, const ModelConfig& config, const TextCodec& codec) {
  write_json(folder / "config.json", folder_config(config, codec));
}

}  // namespace heed
