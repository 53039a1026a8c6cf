#include "heed/pretrained/pretrained_model.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/open_checkpoint.h"
#include "heed/layers/listed_parameters.h"
#include "heed/pretrained/checkpoint_parameters.h"
#include "heed/pretrained/choose_heads.h"
#include "heed/pretrained/ctranslate2.h"
#include "heed/pretrained/fit_to_file.h"
#include "heed/pretrained/generation_options.h"
#include "heed/pretrained/generation_tokens.h"
#include "heed/pretrained/gguf.h"
#include "heed/pretrained/llama2c.h"

namespace heed {
namespace {

// Of before config.json had a model_type: that of the family whose name begins the tensors' names.
Json with_model_type(Json config, const Checkpoint& file) {
  if (config.has("model_type")) return config;
  for (const char* family : {"albert", "bert", "distilbert", "gpt_neox", "roberta", "vit"}) {
    const bool is_theirs = std::ranges::any_of(
        file.tensors(), [&](const auto& tensor) { return tensor.first.starts_with(std::string(family) + "."); });
    if (is_theirs) config.set("model_type", family);
  }
  return config;
}

FamilyModel describe_file(const std::filesystem::path& path, const Checkpoint& file) {
  switch (file.format()) {
    case CheckpointFormat::gguf:
      return describe_gguf(file);
    case CheckpointFormat::llama2c:
      return describe_llama2c(file);
    case CheckpointFormat::ctranslate2:
      return describe_ctranslate2(path, file);
    case CheckpointFormat::safetensors:
      break;
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::is_directory(path, error) ? path : path.parent_path();
  HEED_CHECK(file_exists(folder / "config.json"), "{}: has no config.json beside it, which says what model it is",
             path.string());
  const Json config = with_model_type(read_json(folder / "config.json"), file);
  FamilyModel model = describe_model(config);
  const std::filesystem::path generation = folder / "generation_config.json";
  const bool has_generation = file_exists(generation);
  const Json told = has_generation ? read_json(generation) : config;
  read_generation_tokens(told, has_generation ? generation_file(told) : GenerationFile::config, model);
  read_generation_options(told, model);
  choose_heads(model, file);
  fit_to_file(model, file);
  return model;
}

}  // namespace

FamilyModel describe_pretrained(const std::filesystem::path& path) {
  return describe_file(path, open_checkpoint(path));
}

PretrainedModel open_pretrained(const std::filesystem::path& path, Index length) {
  const Checkpoint file = open_checkpoint(path);
  PretrainedModel opened{describe_file(path, file), nullptr, {}};
  FamilyModel& family = opened.family;
  if (family.config.positions == PositionKind::none && !family.ends_at_max_length) {
    family.config.max_length = std::max(family.config.max_length, length);
  }
  // Names and shapes first: a configuration with absurd extents must not make heed allocate them.
  ListedParameters listed;
  try {
    Transformer(listed, family.config);
  } catch (const Error& refused) {
    fail("{}: {}", path.string(), refused.what());
  }
  CheckpointParameters loaded(file, family.rules, family.prefix, family.config.heads);
  loaded.check_there(listed.shapes());
  opened.model = std::make_unique<Transformer>(loaded, family.config);
  loaded.check_used(family.parts, family.ignored);
  opened.parameters = loaded.list();
  return opened;
}

}  // namespace heed
