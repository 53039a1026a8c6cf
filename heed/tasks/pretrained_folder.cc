#include "heed/tasks/pretrained_folder.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/pretrained_vocabulary.h"

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
  if (file_exists(path / "model.bin")) return true;
  return std::ranges::any_of(fs::directory_iterator(path, error),
                             [](const fs::directory_entry& entry) { return entry.path().extension() == ".gguf"; });
}

ModelFolder load_pretrained(const fs::path& path) {
  PretrainedModel opened = open_pretrained(path);
  const SignalKind signal = opened.family.config.signal.kind;
  HEED_CHECK(signal != SignalKind::picture, "{}: sees pictures and reads no text: see heed classify MODEL PICTURE",
             path.string());
  HEED_CHECK(signal != SignalKind::sound, "{}: hears sound and reads no text: see heed transcribe", path.string());
  const FamilyModel& family = opened.family;
  const TransformerConfig& config = family.config;
  ModelFolder model;
  model.config.transformer = config;
  PretrainedVocabularies vocabularies = open_vocabularies(path);
  model.source_vocabulary = std::move(vocabularies.source);
  model.target_vocabulary = std::move(vocabularies.target);
  const auto check_size = [&](const Vocabulary& vocabulary, Index rows) {
    HEED_CHECK(vocabulary.size() <= rows, "{}: its vocabulary has {} pieces, but its embedding has {} rows",
               path.string(), vocabulary.size(), rows);
  };
  check_size(*model.source_vocabulary, config.has_encoder() ? config.source_vocabulary : config.target_vocabulary);
  check_size(*model.target_vocabulary, config.has_decoder() ? config.target_vocabulary : config.source_vocabulary);
  model.templated = true;
  model.source_symbols = {.pad = model.source_vocabulary->pad()};
  model.target_symbols = {.pad = model.target_vocabulary->pad()};
  model.special = {family.begin, family.ends, {}};
  if (model.special.ends.empty() && model.target_vocabulary->end() >= 0) {
    model.special.ends = {model.target_vocabulary->end()};
  }
  if (config.has_encoder() && config.has_decoder()) {
    model.target_symbols.begin = model.special.begin;
    model.target_symbols.end = model.special.ends.empty() ? -1 : model.special.ends.front();
  }
  model.model = std::move(opened.model);
  model.parameters = std::move(opened.parameters);
  return model;
}

}  // namespace heed
