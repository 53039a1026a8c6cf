#include "heed/tasks/sentence_modules.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/file_writer.h"
#include "heed/io/json.h"

namespace heed {
namespace {

constexpr std::string_view kModules = "modules.json", kConfig = "config.json";
constexpr std::pair<std::string_view, Pool> kModes[] = {{"pooling_mode_mean_tokens", Pool::mean},
                                                        {"pooling_mode_cls_token", Pool::first},
                                                        {"pooling_mode_lasttoken", Pool::last}};

// A class by its last name: sentence_transformers.models.Pooling is Pooling.
std::string_view class_of_module(std::string_view type) { return type.substr(type.rfind('.') + 1); }

Pool read_pool(const Json& config) {
  std::optional<Pool> pool;
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

bool has_sentence_modules(const std::filesystem::path& model) {
  return std::filesystem::is_directory(model) && file_exists(model / kModules);
}

}  // namespace

SentenceModules read_sentence_modules(const std::filesystem::path& model) {
  SentenceModules modules;
  if (!has_sentence_modules(model)) return modules;
  for (const Json& module : read_json(model / kModules).items()) {
    const std::string_view kind = class_of_module(module["type"].string());
    if (kind == "Pooling") {
      modules.pool = read_pool(read_json(model / folder_of_module(module) / kConfig));
    } else if (kind == "Normalize") {
      modules.normalise = true;
    } else if (kind != "Transformer") {
      module["type"].refuse("must be Transformer, Pooling or Normalize: heed has no other");
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
  }
  write_json(folder / kModules, modules);
}

}  // namespace heed
