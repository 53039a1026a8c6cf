#include "heed/pretrained/generation_tokens.h"

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

}  // namespace

void read_generation_tokens(const Json& generation, FamilyModel& model) {
  if (!model.config.has_encoder()) {
    const std::vector<std::int32_t> ends = end_ids(generation);
    if (!ends.empty()) model.ends = ends;
  }
  model.first = id_or(generation, {"forced_bos_token_id"}, model.first);
  if (const std::optional<Json> ids = find_field(generation, {"suppress_tokens"})) add_ids(*ids, model.never);
  const std::optional<Json> words = find_field(generation, {"bad_words_ids"});
  if (!words) return;
  for (const Json& word : words->items()) {
    if (word.size() == 1) add_ids(word, model.never);
  }
}

}  // namespace heed
