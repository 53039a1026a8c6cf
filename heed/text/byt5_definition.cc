#include "heed/text/byt5_definition.h"

#include <set>
#include <string_view>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/text/tokenizer/byte_alphabet.h"
#include "heed/text/tokenizer/definitions.h"

namespace heed {

Json byt5_definition(const Byt5Rules& rules, std::string_view name) {
  constexpr Index kBytes = 256;
  std::vector<Json> added;
  std::vector<Json::Member> pieces;
  std::set<std::string_view> spelled;
  for (Index byte = 0; byte < kBytes; ++byte) spelled.insert(byte_character(static_cast<unsigned char>(byte)));
  const auto add_token = [&](const std::string& token, Index id) {
    HEED_CHECK(spelled.insert(token).second, "{}: of a ByT5Tokenizer, two tokens or bytes are '{}'", name,
               printable(token));
    added.push_back(added_token(token, id, true));
  };
  // Tokens that the model has not get ids behind its pieces.
  Index next = 0;
  for (const std::string* token : {&rules.pad, &rules.end, &rules.unknown}) {
    pieces.emplace_back(*token, next);
    add_token(*token, next++);
  }
  for (Index byte = 0; byte < kBytes; ++byte) {
    pieces.emplace_back(byte_character(static_cast<unsigned char>(byte)), next++);
  }
  for (const std::string& token : rules.extra) add_token(token, next++);
  const auto byte_level = [] {
    return Json::object(
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}});
  };
  const Json without_unreadable =
      Json::object({{"type", "Replace"}, {"pattern", Json::object({{"String", "\xEF\xBF\xBD"}})}, {"content", ""}});
  const TemplateToken end{rules.end, 1};
  return Json::object(
      {{"added_tokens", Json::array(std::move(added))},
       {"normalizer", nullptr},
       {"pre_tokenizer", byte_level()},
       {"post_processor", template_definition({{}, {end}, std::vector<TemplateToken>{end}})},
       {"decoder", Json::object({{"type", "Sequence"}, {"decoders", Json::array({byte_level(), without_unreadable})}})},
       {"model",
        Json::object({{"type", "BPE"}, {"vocab", Json::object(std::move(pieces))}, {"merges", Json::array()}})}});
}

}  // namespace heed
