#include "heed/tasks/text_codec.h"

#include <algorithm>
#include <utility>

#include "heed/base/check.h"

namespace heed {

std::vector<int> TextCodec::source_ids(std::string_view text) const {
  return templated ? source_vocabulary->encode_special(text).ids : source_vocabulary->encode(text);
}

std::vector<int> TextCodec::target_ids(std::string_view text) const {
  return templated && !translates ? target_vocabulary->encode_special(text).ids : target_vocabulary->encode(text);
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

TextCodec codec_of(Vocabularies vocabularies) {
  TextCodec codec;
  codec.source_vocabulary = std::move(vocabularies.source);
  codec.target_vocabulary = std::move(vocabularies.target);
  return codec;
}

TextCodec codec_of_others(Vocabularies vocabularies, std::int32_t begin, std::vector<std::int32_t> ends,
                          bool translates) {
  TextCodec codec = codec_of(std::move(vocabularies));
  codec.templated = true;
  codec.translates = translates;
  codec.source_symbols = {.pad = codec.source_vocabulary->pad()};
  codec.target_symbols = {.pad = codec.target_vocabulary->pad()};
  codec.special = {begin, std::move(ends), {}, static_cast<std::int32_t>(codec.target_vocabulary->size())};
  if (translates) {
    codec.target_symbols.begin = begin;
    codec.target_symbols.end = codec.special.ends.empty() ? -1 : codec.special.ends.front();
  }
  return codec;
}

Json to_json(const TextCodec& codec) {
  const std::vector<Index> ends(codec.special.ends.begin(), codec.special.ends.end());
  return Json::object({{"begin", codec.special.begin}, {"ends", Json::array_of(ends)}});
}

TextCodec codec_from_json(const Json& json, Vocabularies vocabularies, bool translates) {
  json.allow_only({"begin", "ends"});
  // A model may name ids that its vocabulary lacks, which then never come.
  constexpr Index kMostPieces = 1 << 24;
  std::vector<std::int32_t> ends;
  for (const Index id : json["ends"].integer_list(0, kMostPieces)) ends.push_back(static_cast<std::int32_t>(id));
  const auto begin = static_cast<std::int32_t>(json["begin"].integer(-1, kMostPieces));
  return codec_of_others(std::move(vocabularies), begin, std::move(ends), translates);
}

}  // namespace heed
