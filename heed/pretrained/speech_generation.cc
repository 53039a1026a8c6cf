#include "heed/pretrained/speech_generation.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

constexpr Index kMostId = 1 << 24;

std::int32_t id_of(const Json& number) { return static_cast<std::int32_t>(number.integer(0, kMostId)); }

std::map<std::string, std::int32_t> ids_by_name(const Json& members) {
  std::map<std::string, std::int32_t> ids;
  for (const auto& [name, id] : members.members()) {
    const bool bracketed = name.starts_with("<|") && name.ends_with("|>");
    ids[bracketed ? std::string(name.substr(2, name.size() - 4)) : std::string(name)] = id_of(id);
  }
  return ids;
}

std::vector<std::int32_t> ids_of(const Json& list) {
  std::vector<std::int32_t> ids;
  for (Index id : list.integer_list(0, kMostId)) ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

// [[1, 50259], [2, 50359]]: places and what stands there; null where a language is to be found out.
std::vector<std::int32_t> forced_ids(const Json& list) {
  std::vector<std::int32_t> ids;
  for (const Json& pair : list.items()) {
    if (pair.size() != 2 || pair[Index{0}].integer() != std::ssize(ids) + 1) {
      list.refuse("must be the places 1, 2, ... with an id for each");
    }
    if (pair[Index{1}].is_null()) return {};
    ids.push_back(id_of(pair[Index{1}]));
  }
  return ids;
}

std::vector<std::array<Index, 2>> heads_of(const Json& list) {
  std::vector<std::array<Index, 2>> heads;
  for (const Json& pair : list.items()) {
    const std::vector<Index> both = pair.integer_list(0, kMostId);
    if (both.size() != 2) pair.refuse("must be a layer and a head");
    heads.push_back({both[0], both[1]});
  }
  return heads;
}

std::string names_of(const std::map<std::string, std::int32_t>& ids) {
  std::string names;
  for (const auto& [name, id] : ids) names += (names.empty() ? "" : ", ") + printable(name);
  return names.empty() ? "none" : names;
}

std::int32_t find(const std::map<std::string, std::int32_t>& ids, std::string_view name, std::string_view what) {
  const auto found = ids.find(std::string(name));
  HEED_CHECK(found != ids.end(), "the model has no {} {}; it has: {}", what, printable(name), names_of(ids));
  return found->second;
}

}  // namespace

std::int32_t SpeechGeneration::language_id(std::string_view code) const { return find(languages, code, "language"); }

std::vector<std::int32_t> SpeechGeneration::prompt(std::int32_t language, std::string_view task) const {
  std::vector<std::int32_t> ids{start};
  if (languages.empty()) {
    HEED_CHECK(task == "transcribe", "the model has no task {}: it hears one language and writes it", printable(task));
    ids.insert(ids.end(), forced.begin(), forced.end());
  } else {
    ids.insert(ids.end(), {language, find(tasks, task, "task")});
  }
  if (no_timestamps >= 0 && std::ranges::find(ids, no_timestamps) == ids.end()) ids.push_back(no_timestamps);
  return ids;
}

SpeechGeneration read_speech_generation(const std::filesystem::path& folder) {
  std::vector<Json> configs;
  for (const char* name : {"generation_config.json", "config.json"}) {
    if (file_exists(folder / name)) configs.push_back(read_json(folder / name));
  }
  const auto read = [&](std::string_view name, auto use) {
    for (const Json& config : configs) {
      if (const std::optional<Json> found = find_field(config, {name})) return use(*found);
    }
  };
  SpeechGeneration speech;
  read("decoder_start_token_id", [&](const Json& json) { speech.start = id_of(json); });
  HEED_CHECK(speech.start >= 0, "{}: says nowhere what text begins with (decoder_start_token_id)", folder.string());
  for (const Json& config : configs) {
    if (speech.ends.empty()) speech.ends = end_ids(config);
  }
  read("lang_to_id", [&](const Json& json) { speech.languages = ids_by_name(json); });
  read("task_to_id", [&](const Json& json) { speech.tasks = ids_by_name(json); });
  read("forced_decoder_ids", [&](const Json& json) { speech.forced = forced_ids(json); });
  read("no_timestamps_token_id", [&](const Json& json) { speech.no_timestamps = id_of(json); });
  read("suppress_tokens", [&](const Json& json) { speech.never = ids_of(json); });
  read("begin_suppress_tokens", [&](const Json& json) { speech.never_first = ids_of(json); });
  read("alignment_heads", [&](const Json& json) { speech.alignment_heads = heads_of(json); });
  return speech;
}

void save_speech_generation(const std::filesystem::path& folder, const SpeechGeneration& speech) {
  const auto by_name = [](const std::map<std::string, std::int32_t>& ids) {
    Json json = Json::object({});
    for (const auto& [name, id] : ids) json.set(name, Index{id});
    return json;
  };
  const auto list = [](const std::vector<std::int32_t>& ids) {
    return Json::array_of(std::vector<Index>(ids.begin(), ids.end()));
  };
  Json forced = Json::array(), heads = Json::array();
  for (std::size_t i = 0; i < speech.forced.size(); ++i) {
    forced.append(Json::array_of(std::vector<Index>{static_cast<Index>(i) + 1, speech.forced[i]}));
  }
  for (const std::array<Index, 2>& head : speech.alignment_heads) heads.append(Json::array_of(head));
  Json json = Json::object({{"decoder_start_token_id", Index{speech.start}},
                            {"eos_token_id", list(speech.ends)},
                            {"lang_to_id", by_name(speech.languages)},
                            {"task_to_id", by_name(speech.tasks)},
                            {"forced_decoder_ids", std::move(forced)},
                            {"suppress_tokens", list(speech.never)},
                            {"begin_suppress_tokens", list(speech.never_first)},
                            {"alignment_heads", std::move(heads)}});
  if (speech.no_timestamps >= 0) json.set("no_timestamps_token_id", Index{speech.no_timestamps});
  write_json(folder / "generation_config.json", json);
}

}  // namespace heed
