#include "heed/tasks/text_codec.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/text/bounded_vocabulary.h"
#include "heed/text/language_tokens.h"

namespace heed {
namespace {

// The fields that are not as they are without a folder.
template <HasFields Options>
Json changed_fields(Options options, const Options& otherwise) {
  const Json standard = to_json(otherwise);
  Json changed = Json::object();
  visit_fields(options, [&](std::string_view name, const auto& value, std::string_view, NumberRange = {}) {
    const Json json = field_to_json(value);
    if (json != standard[name]) changed.set(name, json);
  });
  return changed;
}

}  // namespace

std::vector<int> TextCodec::source_ids(std::string_view text) const {
  return templated ? source_vocabulary->encode_special(text).ids : source_vocabulary->encode(text);
}

std::vector<int> TextCodec::target_ids(std::string_view text) const {
  if (templated && !translates) return target_vocabulary->encode_special(text).ids;
  std::vector<int> ids = target_vocabulary->encode(text);
  if (special.first >= 0 && !ids.empty()) ids.insert(ids.begin(), special.first);
  return ids;
}

void TextCodec::choose(const Languages& languages) {
  if (languages.source.empty() && languages.target.empty()) return;
  HEED_CHECK(templated && translates, "a language can be chosen of another toolkit's model that translates alone");
  if (!languages.source.empty()) {
    const bool is_joint = source_vocabulary == target_vocabulary;
    source_vocabulary = with_language(*source_vocabulary, languages.source);
    if (is_joint) target_vocabulary = source_vocabulary;
  }
  if (languages.target.empty()) return;
  const int target = language_id(*target_vocabulary, languages.target);
  // mBART's decoder begins with the language, where others have it behind what they begin with, if with anything.
  const bool begins = special.begin < 0 || (special.begin < target_vocabulary->size() &&
                                            is_language_token(target_vocabulary->piece(special.begin)));
  if (begins) {
    special.begin = target_symbols.begin = target;
  } else {
    special.first = target;
  }
}

std::vector<int> TextCodec::prompt_ids(std::string_view text) const {
  std::vector<int> ids = target_ids(text);
  if (!templated || ids.empty()) ids.insert(ids.begin(), special.begin);
  HEED_CHECK(ids.front() >= 0, "the model has no token that begins a text, so it needs a prompt");
  return ids;
}

TextEncoding TextCodec::source_encoding() const {
  const auto ids = [this](std::string_view text) {
    return templated && source_vocabulary->encode(text).empty() ? std::vector<int>() : source_ids(text);
  };
  return {ids, source_symbols};
}

TextEncoding TextCodec::target_encoding() const {
  if (!templated || translates) return {[this](std::string_view text) { return target_ids(text); }, target_symbols};
  const auto document = [this](std::string_view text) {
    if (target_vocabulary->encode(text).empty()) return std::vector<int>();
    std::vector<int> ids = target_ids(text);
    if (special.begin >= 0 && ids.front() != special.begin) ids.insert(ids.begin(), special.begin);
    if (!special.ends.empty() && !special.is_end(ids.back())) ids.push_back(special.ends.front());
    return ids;
  };
  return {document, SymbolIds()};
}

Vocabularies bounded(const Vocabularies& vocabularies, Index source_rows, Index target_rows) {
  const std::shared_ptr<const Vocabulary> source = bounded_vocabulary(vocabularies.source, source_rows);
  const bool is_joint = vocabularies.source == vocabularies.target && source_rows == target_rows;
  return {source, is_joint ? source : bounded_vocabulary(vocabularies.target, target_rows)};
}

TextCodec codec_of(Vocabularies vocabularies) {
  TextCodec codec;
  codec.source_vocabulary = std::move(vocabularies.source);
  codec.target_vocabulary = std::move(vocabularies.target);
  return codec;
}

TextCodec codec_of_others(Vocabularies vocabularies, SpecialTokens special, bool translates) {
  TextCodec codec = codec_of(std::move(vocabularies));
  codec.templated = true;
  codec.translates = translates;
  codec.source_symbols = {.pad = codec.source_vocabulary->pad()};
  codec.target_symbols = {.pad = codec.target_vocabulary->pad()};
  codec.special = std::move(special);
  codec.special.beyond = static_cast<std::int32_t>(codec.target_vocabulary->size());
  const auto check_put = [&](std::string_view how, std::int32_t token) {
    HEED_CHECK(token < codec.special.beyond, "a text must {} with token {}, but there are {}", how, token,
               codec.special.beyond);
  };
  check_put("begin", codec.special.first);
  check_put("end", codec.special.last);
  if (translates) {
    codec.target_symbols.begin = codec.special.begin;
    codec.target_symbols.end = codec.special.ends.empty() ? -1 : codec.special.ends.front();
  }
  return codec;
}

Json to_json(const TextCodec& codec) {
  const auto list = [](const std::vector<std::int32_t>& ids) {
    return Json::array_of(std::vector<Index>(ids.begin(), ids.end()));
  };
  Json json = Json::object({{"begin", codec.special.begin}, {"ends", list(codec.special.ends)}});
  if (codec.special.first >= 0) json.set("first", codec.special.first);
  if (codec.special.last >= 0) json.set("last", codec.special.last);
  if (!codec.special.never.empty()) json.set("never", list(codec.special.never));
  if (!codec.special.never_first.empty()) json.set("never_first", list(codec.special.never_first));
  const Json decoding = Json::object({{"search", changed_fields(codec.decoding.search, {})},
                                      {"sampling", changed_fields(codec.decoding.sampling, {})}});
  if (decoding["search"].size() + decoding["sampling"].size() > 0) json.set("decoding", decoding);
  return json;
}

TextCodec codec_from_json(const Json& json, Vocabularies vocabularies, bool translates) {
  json.allow_only({"begin", "ends", "first", "last", "never", "never_first", "decoding"});
  // A model may name ids that its vocabulary lacks, which then never come.
  constexpr Index kMostPieces = 1 << 24;
  const auto id = [&](const char* name) { return static_cast<std::int32_t>(json[name].integer(-1, kMostPieces)); };
  const auto ids = [&](const char* name) {
    const std::vector<Index> list = json[name].integer_list(0, kMostPieces);
    return std::vector<std::int32_t>(list.begin(), list.end());
  };
  SpecialTokens special{.begin = id("begin"), .ends = ids("ends"), .never = {}};
  if (json.has("first")) special.first = id("first");
  if (json.has("last")) special.last = id("last");
  if (json.has("never")) special.never = ids("never");
  if (json.has("never_first")) special.never_first = ids("never_first");
  TextCodec codec = codec_of_others(std::move(vocabularies), std::move(special), translates);
  if (json.has("decoding")) {
    from_json(json["decoding"], codec.decoding, Missing::keep_default);
    check_ranges(codec.decoding.search, json["decoding"]["search"].where());
    check_ranges(codec.decoding.sampling, json["decoding"]["sampling"].where());
  }
  return codec;
}

}  // namespace heed
