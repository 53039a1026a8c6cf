#include "heed/tasks/model_folder.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/layers/listed_parameters.h"
#include "heed/layers/loaded_parameters.h"
#include "heed/tasks/pretrained_folder.h"

namespace heed {
namespace {

constexpr std::string_view kJoint = "vocabulary", kSource = "source", kTarget = "target";

bool has_vocabulary(const std::filesystem::path& folder, std::string_view stem) {
  const std::vector<std::filesystem::path> paths = vocabulary_paths(folder, stem);
  return std::ranges::any_of(paths, file_exists);
}

}  // namespace

std::vector<int> ModelFolder::source_ids(std::string_view text) const {
  return templated ? source_vocabulary->encode_special(text).ids : source_vocabulary->encode(text);
}

std::vector<int> ModelFolder::target_ids(std::string_view text) const {
  return templated && !model->has_source() ? target_vocabulary->encode_special(text).ids
                                           : target_vocabulary->encode(text);
}

std::vector<int> ModelFolder::prompt_ids(std::string_view text) const {
  std::vector<int> ids = target_ids(text);
  if (!templated || ids.empty()) ids.insert(ids.begin(), special.begin);
  HEED_CHECK(ids.front() >= 0, "the model has no token that begins a text, so it needs a prompt");
  return ids;
}

ModelFolder load_model_folder(const std::filesystem::path& folder) {
  if (is_pretrained(folder)) return load_pretrained(folder);
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(folder, error);
  HEED_CHECK(is_folder || !error, "{}: {}", folder.string(), error.message());
  HEED_CHECK(is_folder, "{}: is not a folder", folder.string());
  for (std::string_view file : {"config.json", "model.safetensors"}) {
    HEED_CHECK(file_exists(folder / file), "{}: is not a model folder: it has no {}", folder.string(), file);
  }
  ModelFolder model;
  model.config = model_config_from_json(read_json(folder / "config.json"));
  load_vocabularies(folder, model.source_vocabulary, model.target_vocabulary);
  ModelConfig of_vocabulary = model.config;
  of_vocabulary.set_vocabularies(model.source_vocabulary->size(), model.target_vocabulary->size());
  HEED_CHECK(to_json(of_vocabulary) == to_json(model.config),
             "{}: does not match the vocabulary, which has {} source and {} target pieces",
             (folder / "config.json").string(), model.source_vocabulary->size(), model.target_vocabulary->size());
  // Names and shapes first: a configuration with absurd extents must not make heed allocate them.
  ListedParameters listed;
  try {
    make_model(listed, model.config);
  } catch (const Error& refused) {
    fail("{}: {}", (folder / "config.json").string(), refused.what());
  }
  LoadedParameters loaded(folder / "model.safetensors", listed.shapes());
  model.model = make_model(loaded, model.config);
  model.parameters = loaded.list();
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

void load_vocabularies(const std::filesystem::path& folder, std::shared_ptr<const Vocabulary>& source,
                       std::shared_ptr<const Vocabulary>& target) {
  if (has_vocabulary(folder, kJoint)) {
    source = target = load_vocabulary(folder, kJoint);
  } else {
    source = load_vocabulary(folder, kSource);
    target = load_vocabulary(folder, kTarget);
  }
}

void save_model_config(const std::filesystem::path& folder, const ModelConfig& config) {
  write_json(folder / "config.json", to_json(config));
}

}  // namespace heed
