#include "heed/tasks/pretrained_folder.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/pretrained_vocabulary.h"
#include "heed/tasks/sentence_modules.h"

namespace heed {

namespace fs = std::filesystem;

bool is_pretrained(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return false;
  HEED_CHECK(!error, "{}: {}", path.string(), error.message());
  if (!fs::is_directory(status)) return true;
  if (file_exists(path / "config.json")) {
    const Json config = read_json(path / "config.json");
    return config.kind() == Json::Kind::object && !config.has("model");
  }
  if (weights_of_sentence_folder(path) != path) return true;
  return std::ranges::any_of(fs::directory_iterator(path, error), [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".gguf" || entry.path().extension() == ".bin";
  });
}

ModelFolder load_pretrained(const fs::path& path) {
  PretrainedModel opened = open_pretrained(weights_of_sentence_folder(path));
  const FamilyModel& family = opened.family;
  ModelFolder model;
  model.config.transformer = family.config;
  check_handles_text(model.config, path);
  Vocabularies vocabularies =
      bounded(open_vocabularies(path), model.config.source_vocabulary(), model.config.target_vocabulary());
  std::vector<std::int32_t> ends = family.ends;
  if (ends.empty() && vocabularies.target->end() >= 0) ends = {vocabularies.target->end()};
  static_cast<TextCodec&>(model) = codec_of_others(std::move(vocabularies),
                                                   {.begin = family.begin,
                                                    .ends = std::move(ends),
                                                    .never = family.never,
                                                    .first = family.first,
                                                    .last = family.last,
                                                    .never_first = family.never_first},
                                                   model.config.translates());
  model.decoding = family.decoding;
  model.model = std::move(opened.model);
  model.parameters = std::move(opened.parameters);
  model.path = path;
  return model;
}

}  // namespace heed
