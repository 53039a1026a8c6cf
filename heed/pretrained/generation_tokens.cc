#include "heed/pretrained/generation_tokens.h"

#include <algorithm>
#include <iterator>

#include "heed/pretrained/config_fields.h"

namespace heed {
namespace {

constexpr Index kLargestId = 1 << 24;

void add_ids(const Json& list, std::vector<std::int32_t>& ids) {
  // -1 is in some files, and no token.
  for (const Index id : list.integer_list(-1, kLargestId)) {
    if (id >= 0) ids.push_back(static_cast<std::int32_t>(id));
  }
}

// An id or a list of some, which are equally certain, so that the smallest comes.
std::int32_t smallest_id(const Json& one_or_list) {
  if (one_or_list.kind() == Json::Kind::integer) return static_cast<std::int32_t>(one_or_list.integer(-1, kLargestId));
  std::vector<std::int32_t> ids;
  add_ids(one_or_list, ids);
  return ids.empty() ? -1 : std::ranges::min(ids);
}

void read_forced(const Json& generation, std::string_view name, std::int32_t& id) {
  if (!generation.has(name)) return;
  id = generation[name].is_null() ? -1 : smallest_id(generation[name]);
}

}  // namespace

GenerationFile generation_file(const Json& generation) {
  return flag_or(generation, {"_from_model_config"}, false) ? GenerationFile::config : GenerationFile::generation;
}

void read_generation_tokens(const Json& generation, GenerationFile file, FamilyModel& model) {
  const bool is_alone = file == GenerationFile::generation;
  const std::vector<std::int32_t> ends = end_ids(generation);
  if (is_alone || !ends.empty()) model.ends = ends;
  if (is_alone) model.first = model.last = -1;
  read_forced(generation, "forced_bos_token_id", model.first);
  read_forced(generation, "forced_eos_token_id", model.last);
  if (model.config.has_encoder()) {
    if (is_alone) model.begin = id_or(generation, {"bos_token_id"}, model.begin);
    model.begin = id_or(generation, {"decoder_start_token_id"}, model.begin);
  }
  if (const std::optional<Json> ids = find_field(generation, {"suppress_tokens"})) add_ids(*ids, model.never);
  if (const std::optional<Json> ids = find_field(generation, {"begin_suppress_tokens"})) {
    add_ids(*ids, model.never_first);
  }
  const std::optional<Json> words = find_field(generation, {"bad_words_ids"});
  if (!words) return;
  std::vector<std::int32_t> bad;
  for (const Json& word : words->items()) {
    if (word.size() == 1) add_ids(word, bad);
  }
  std::ranges::copy_if(bad, std::back_inserter(model.never),
                       [&](std::int32_t id) { return std::ranges::count(model.ends, id) == 0; });
}

}  // namespace heed
