#include "heed/tasks/model_folder.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/file_tensor.h"
#include "heed/io/safetensors.h"
#include "heed/text/sentencepiece_vocabulary.h"
#include "heed/text/whitespace_vocabulary.h"

namespace heed {
namespace {

constexpr std::string_view kJoint = "vocabulary", kSource = "source", kTarget = "target";

bool has_vocabulary(const std::filesystem::path& folder, std::string_view stem) {
  return file_exists(SentencePieceVocabulary::path_in(folder, stem)) ||
         file_exists(WhitespaceVocabulary::path_in(folder, stem));
}

}  // namespace

ModelFolder load_model_folder(const std::filesystem::path& folder) {
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
  // Weights first: a configuration with absurd extents must not make heed allocate them.
  const std::filesystem::path file = folder / "model.safetensors";
  const std::map<std::string, Tensor> tensors = read_safetensors(file);
  double elements = 0;
  for (const auto& [name, tensor] : tensors) elements += static_cast<double>(tensor.size());
  HEED_CHECK(model.config.weight_count() <= elements,
             "{}: holds {} numbers, but the model that config.json describes has at least {}", file.string(), elements,
             model.config.weight_count());
  Rng rng(0);
  model.model = make_model(model.config, rng);
  set_parameters(tensors, model.model->parameters(), file);
  return model;
}

std::vector<std::filesystem::path> vocabulary_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (std::string_view stem : {kJoint, kSource, kTarget}) {
    files.push_back(SentencePieceVocabulary::path_in(folder, stem));
    files.push_back(WhitespaceVocabulary::path_in(folder, stem));
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

void save_parameters(const std::filesystem::path& file, const ParameterList& parameters) {
  std::map<std::string, ConstView> tensors;
  for (const auto& [name, var] : parameters) tensors[name] = var.value().view();
  write_safetensors(file, tensors);
}

void set_parameters(const std::map<std::string, Tensor>& tensors, const ParameterList& parameters,
                    const std::filesystem::path& file, std::string_view prefix) {
  for (const auto& [name, var] : parameters) {
    const auto found = tensors.find(std::string(prefix) + name);
    HEED_CHECK(found != tensors.end(), "{}: has no tensor {}{}", file.string(), prefix, name);
    const View& value = found->second.view();
    HEED_CHECK(same_shape(value, var.value().view()) && value.dtype == var.dtype(),
               "{}: {}{} is {}, but the model needs {}", file.string(), prefix, name, describe(value),
               describe(var.value().view()));
    check_finite(found->second, fmt::format("{}: {}{}", file.string(), prefix, name));
    var.set_value(value);
  }
  if (!prefix.empty()) return;
  for (const auto& [name, tensor] : tensors) {
    bool known = false;
    for (const NamedParameter& parameter : parameters) known = known || parameter.name == name;
    HEED_CHECK(known, "{}: the model has no parameter {}", file.string(), printable(name));
  }
}

}  // namespace heed
