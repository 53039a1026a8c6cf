#include "heed/tasks/sentence_modules.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"
#include "heed/io/open_checkpoint.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

constexpr std::string_view kModules = "modules.json", kConfig = "config.json";

struct Mode {
  std::string_view name;
  std::string_view flag;  // true for it, where a configuration is of before there were names
  Pool pool;
};
// In the order in which the vectors of flags lie side by side.
constexpr Mode kModes[] = {{"cls", "pooling_mode_cls_token", Pool::first},
                           {"max", "pooling_mode_max_tokens", Pool::max},
                           {"mean", "pooling_mode_mean_tokens", Pool::mean},
                           {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", Pool::mean_sqrt},
                           {"weightedmean", "pooling_mode_weightedmean_tokens", Pool::weighted},
                           {"lasttoken", "pooling_mode_lasttoken", Pool::last}};

// By a class of its own for each family, once.
constexpr std::string_view kModels[] = {"Transformer", "BERT",      "RoBERTa",   "DistilBERT",
                                        "ALBERT",      "CamemBERT", "XLMRoBERTa"};

// A class by its last name: sentence_transformers.models.Pooling is Pooling.
std::string_view class_of_module(std::string_view type) { return type.substr(type.rfind('.') + 1); }

bool is_model(std::string_view kind) { return std::ranges::find(kModels, kind) != std::end(kModels); }

Pool pool_named(const Json& name) {
  const auto* const mode = std::ranges::find(kModes, std::string_view(name.string()), &Mode::name);
  if (mode == std::end(kModes)) name.refuse("is a way to pool that heed has not");
  return mode->pool;
}

std::vector<Pool> read_pools(const Json& config) {
  std::vector<Pool> pools;
  refuse_unless(config, "include_prompt", true);
  if (const auto named = find_field(config, {"pooling_mode"})) {
    if (named->kind() == Json::Kind::string) return {pool_named(*named)};
    for (const Json& name : named->items()) pools.push_back(pool_named(name));
    if (pools.empty()) named->refuse("must say how to pool");
    return pools;
  }
  for (const auto& [key, value] : config.members()) {
    if (!key.starts_with("pooling_mode_") || !value.boolean()) continue;
    if (std::ranges::find(kModes, std::string_view(key), &Mode::flag) == std::end(kModes)) {
      value.refuse("is a way to pool that heed has not");
    }
  }
  for (const Mode& mode : kModes) {
    if (flag_or(config, {mode.flag}, false)) pools.push_back(mode.pool);
  }
  if (pools.empty()) pools.push_back(Pool::mean);
  return pools;
}

// A folder in the model's; empty: the model's own.
std::filesystem::path folder_of_module(const Json& module) {
  const std::filesystem::path name = module["path"].string();
  if (name.filename() != name || name == "..") module["path"].refuse("must be the name of a folder");
  return name;
}

bool has_sentence_modules(const std::filesystem::path& model) {
  return std::filesystem::is_directory(model) && file_exists(model / kModules);
}

}  // namespace

SentenceModules read_sentence_modules(const std::filesystem::path& model) {
  SentenceModules modules;
  if (!has_sentence_modules(model)) return modules;
  const auto add = [&](std::shared_ptr<const SentenceLayer> layer) {
    if (modules.normalise) modules.layers.push_back(length_one_layer());
    modules.normalise = false;
    modules.layers.push_back(std::move(layer));
  };
  for (const Json& module : read_json(model / kModules).items()) {
    const std::string_view kind = class_of_module(module["type"].string());
    if (kind == "Pooling") {
      modules.pools = read_pools(read_json(model / folder_of_module(module) / kConfig));
    } else if (kind == "Dense") {
      add(read_dense_layer(model / folder_of_module(module)));
    } else if (kind == "LayerNorm") {
      add(read_norm_layer(model / folder_of_module(module)));
    } else if (kind == "Normalize") {
      modules.normalise = true;
    } else if (kind != "Dropout" && !is_model(kind)) {
      module["type"].refuse("must be Transformer, Pooling, Dense, LayerNorm, Normalize or Dropout: heed has no other");
    }
  }
  return modules;
}

std::filesystem::path weights_of_sentence_folder(const std::filesystem::path& model) {
  if (!has_sentence_modules(model) || file_exists(model / kConfig)) return model;
  for (const Json& module : read_json(model / kModules).items()) {
    if (is_model(class_of_module(module["type"].string()))) return model / folder_of_module(module);
  }
  return model;
}

void copy_sentence_modules(const std::filesystem::path& model, const std::filesystem::path& folder) {
  if (!has_sentence_modules(model)) return;
  const Json modules = read_json(model / kModules);
  for (const Json& module : modules.items()) {
    const std::filesystem::path name = folder_of_module(module);
    if (name.empty() || !file_exists(model / name / kConfig)) continue;
    const std::string_view kind = class_of_module(module["type"].string());
    make_folder(folder / name);
    write_json(folder / name / kConfig, read_json(model / name / kConfig));
    if (kind != "Dense" && kind != "LayerNorm") continue;
    const std::filesystem::path weights = checkpoint_path(model / name);
    write_file(folder / name / weights.filename(), read_file(weights));
  }
  write_json(folder / kModules, modules);
}

}  // namespace heed
