#include "heed/tasks/training_folder.h"

#include <string>
#include <string_view>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/tasks/model_folder.h"

namespace heed {

TrainingFolder::TrainingFolder(std::filesystem::path path) : path_(std::move(path)) {
  check_free();
  make_folder(training());
  lock_ = std::make_unique<FileLock>(training() / "lock");
}

bool TrainingFolder::holds_run() const { return file_exists(state_file()); }

void TrainingFolder::check_free() const {
  if (file_exists(options_file())) return;
  std::vector<std::filesystem::path> taken = vocabulary_files(path_);
  for (std::string_view name : {"config.json", "model.safetensors", "metrics.jsonl"}) taken.push_back(path_ / name);
  taken.push_back(state_file());
  for (const std::filesystem::path& file : taken) {
    HEED_CHECK(!file_exists(file), "{}: is there already, and is not of a training run: train into another folder",
               file.string());
  }
}

void TrainingFolder::check_same_run(const Json& now) const {
  Json before = read_json(options_file());
  // What the model's configuration has no word of, since it came later, is what a model without it is.
  before.set("model", to_json(model_config_from_json(before["model"])));
  if (before == now) return;
  // A run without a start, or without factors, has no word of them.
  const auto compare_optional = [&](std::string_view name) {
    HEED_CHECK(before.has(name) == now.has(name), "{}: this run was started with{} {}, and would go on with{}",
               options_file().string(), before.has(name) ? "" : "out", name == "start" ? "--from" : "--lora",
               now.has(name) ? "" : "out");
  };
  const auto compare = [&](const Json& a, const Json& b) {
    for (const auto& [name, value] : b.members()) {
      HEED_CHECK(a.has(name) && a[name] == value,
                 "{}: this run was started with {} {}, not {}: continue it with that, or train into another folder",
                 options_file().string(), name, a.has(name) ? a[name].dump() : "unset", value.dump());
    }
  };
  for (std::string_view name : {"start", "low_rank"}) {
    compare_optional(name);
    if (now.has(name)) compare(before[name], now[name]);
  }
  compare(before["training"], now["training"]);
  HEED_CHECK(before["model"]["model"] == now["model"]["model"], "{}: this run trains a {}, not a {}",
             options_file().string(), before["model"]["model"].dump(), now["model"]["model"].dump());
  compare(before["model"]["config"], now["model"]["config"]);
  compare(before["text"], now["text"]);
  fail("{}: this run was started with other options", options_file().string());
}

void TrainingFolder::begin(const Json& description) const { write_json(options_file(), description); }

}  // namespace heed
