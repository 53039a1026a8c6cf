#include "heed/tasks/sentence_modules.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/io/open_checkpoint.h"
#include "heed/ops/activation.h"
#include "heed/ops/linear.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

constexpr std::string_view kModules = "modules.json", kConfig = "config.json";
constexpr std::pair<std::string_view, Pool> kModes[] = {{"pooling_mode_mean_tokens", Pool::mean},
                                                        {"pooling_mode_cls_token", Pool::first},
                                                        {"pooling_mode_lasttoken", Pool::last}};

// By PyTorch's names of the classes.
constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"Identity", Activation::identity}, {"Tanh", Activation::tanh}, {"ReLU", Activation::relu},
    {"GELU", Activation::gelu},         {"SiLU", Activation::silu}, {"Sigmoid", Activation::sigmoid}};

// A class by its last name: sentence_transformers.models.Pooling is Pooling.
std::string_view class_of_module(std::string_view type) { return type.substr(type.rfind('.') + 1); }

Pool read_pool(const Json& config) {
  std::optional<Pool> pool;
  refuse_unless(config, "include_prompt", true);
  for (const auto& [key, value] : config.members()) {
    if (!key.starts_with("pooling_mode_") || !value.boolean()) continue;
    const auto* const mode = std::ranges::find(kModes, key, [](const auto& row) { return row.first; });
    if (mode == std::end(kModes)) value.refuse("is a way to pool that heed has not");
    if (pool) value.refuse("is a second way to pool: heed has one at a time");
    pool = mode->second;
  }
  if (!pool) config.refuse("must say how to pool");
  return *pool;
}

// A folder in the model's; empty: the model's own.
std::filesystem::path folder_of_module(const Json& module) {
  const std::filesystem::path name = module["path"].string();
  if (name.filename() != name || name == "..") module["path"].refuse("must be the name of a folder");
  return name;
}

DenseModule read_dense(const std::filesystem::path& model, const std::filesystem::path& name) {
  const std::filesystem::path folder = model / name;
  const Json config = read_json(folder / kConfig);
  for (std::string_view key : {"module_input_name", "module_output_name"}) {
    const auto of = find_field(config, {key});
    if (of && of->string() != "sentence_embedding") of->refuse("must be sentence_embedding: heed has no other vectors");
  }
  DenseModule dense;
  dense.name = folder.string();
  if (const auto function = find_field(config, {"activation_function"})) {
    const auto* const known =
        std::ranges::find(kActivations, class_of_module(function->string()), [](const auto& row) { return row.first; });
    if (known == std::end(kActivations)) function->refuse("is an activation that heed has not");
    dense.activation = known->second;
  }
  const Checkpoint file = open_checkpoint(folder);
  dense.weight = file.tensor("linear.weight").to(DType::f32);
  if (file.has("linear.bias")) dense.bias = file.tensor("linear.bias").to(DType::f32);
  HEED_CHECK(dense.weight.rank() == 2, "{}: linear.weight must be [outputs, inputs], but is {}", file.name(),
             describe(dense.weight.view()));
  HEED_CHECK(!file.has("linear.bias") || (dense.bias.rank() == 1 && dense.bias.dim(0) == dense.weight.dim(0)),
             "{}: linear.bias must be [{}], but is {}", file.name(), dense.weight.dim(0), describe(dense.bias.view()));
  return dense;
}

bool has_sentence_modules(const std::filesystem::path& model) {
  return std::filesystem::is_directory(model) && file_exists(model / kModules);
}

}  // namespace

Tensor DenseModule::apply(const Tensor& vectors) const {
  HEED_CHECK(vectors.dim(1) == weight.dim(1), "{}: takes vectors of {} numbers, but those before it are of {}", name,
             weight.dim(1), vectors.dim(1));
  Tensor result = Tensor::empty(DType::f32, {vectors.dim(0), weight.dim(0)});
  linear(vectors.view(), weight, bias.view(), result.view());
  activate(activation, result.view(), result.view());
  return result;
}

SentenceModules read_sentence_modules(const std::filesystem::path& model) {
  SentenceModules modules;
  if (!has_sentence_modules(model)) return modules;
  for (const Json& module : read_json(model / kModules).items()) {
    const std::string_view kind = class_of_module(module["type"].string());
    if (kind == "Pooling") {
      modules.pool = read_pool(read_json(model / folder_of_module(module) / kConfig));
    } else if (kind == "Dense") {
      if (modules.normalise) module["type"].refuse("must come before Normalize");
      modules.dense.push_back(read_dense(model, folder_of_module(module)));
    } else if (kind == "Normalize") {
      modules.normalise = true;
    } else if (kind != "Transformer") {
      module["type"].refuse("must be Transformer, Pooling, Dense or Normalize: heed has no other");
    }
  }
  return modules;
}

void copy_sentence_modules(const std::filesystem::path& model, const std::filesystem::path& folder) {
  if (!has_sentence_modules(model)) return;
  const Json modules = read_json(model / kModules);
  for (const Json& module : modules.items()) {
    const std::filesystem::path name = folder_of_module(module);
    if (name.empty() || !file_exists(model / name / kConfig)) continue;
    make_folder(folder / name);
    write_json(folder / name / kConfig, read_json(model / name / kConfig));
    if (class_of_module(module["type"].string()) != "Dense") continue;
    const std::filesystem::path weights = checkpoint_path(model / name);
    write_file(folder / name / weights.filename(), read_file(weights));
  }
  write_json(folder / kModules, modules);
}

}  // namespace heed
