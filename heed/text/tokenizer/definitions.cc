#include "heed/text/tokenizer/definitions.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

Json sequence(std::string_view which, int type) {
  return Json::object({{"Sequence", Json::object({{"id", which}, {"type_id", type}})}});
}
Json special(std::string_view token, int type) {
  return Json::object({{"SpecialToken", Json::object({{"id", token}, {"type_id", type}})}});
}
Json template_token(std::string_view token, Index id) {
  return Json::object({{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}});
}

Json byte_level(bool prefix_space, bool trims) {
  return Json::object(
      {{"type", "ByteLevel"}, {"add_prefix_space", prefix_space}, {"trim_offsets", trims}, {"use_regex", true}});
}

}  // namespace

Json added_token(std::string_view content, Index id, bool is_special) {
  return Json::object({{"id", id},
                       {"content", content},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", is_special}});
}

Json bert_definition(std::span<const std::string> pieces, const BertRules& rules, std::string_view name) {
  std::vector<Json::Member> vocabulary;
  vocabulary.reserve(pieces.size());
  std::unordered_map<std::string_view, Index> ids;  // of a piece that comes twice, the last
  for (std::size_t id = 0; id < pieces.size(); ++id) ids[pieces[id]] = static_cast<Index>(id);
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (ids[pieces[id]] == static_cast<Index>(id)) vocabulary.emplace_back(pieces[id], static_cast<Index>(id));
  }
  const auto find = [&](const std::string& piece) {
    const auto at = ids.find(piece);
    HEED_CHECK(at != ids.end(), "{}: the vocabulary has no '{}'", name, printable(piece));
    return at->second;
  };
  const Index cls = find(rules.classifier), sep = find(rules.separator);
  find(rules.unknown);
  Json added = Json::array();
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string& piece = pieces[id];
    if (piece == rules.unknown || piece == rules.classifier || piece == rules.separator || piece == rules.pad ||
        piece == rules.mask)
      added.append(added_token(piece, static_cast<Index>(id), true));
  }
  return Json::object({{"version", "1.0"},
                       {"added_tokens", added},
                       {"normalizer", Json::object({{"type", "BertNormalizer"},
                                                    {"clean_text", true},
                                                    {"handle_chinese_chars", rules.chinese},
                                                    {"strip_accents", rules.strips_accents},
                                                    {"lowercase", rules.lower}})},
                       {"pre_tokenizer", Json::object({{"type", "BertPreTokenizer"}})},
                       {"post_processor", bert_template({rules.classifier, cls}, {rules.separator, sep})},
                       {"decoder", Json::object({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}})},
                       {"model", Json::object({{"type", "WordPiece"},
                                               {"unk_token", rules.unknown},
                                               {"continuing_subword_prefix", "##"},
                                               {"max_input_chars_per_word", 100},
                                               {"vocab", Json::object(std::move(vocabulary))}})}});
}

Json gpt2_definition(Json pieces, Json merges, std::span<const std::string> special_tokens, bool prefix_space) {
  Json added = Json::array();
  for (const std::string& token : special_tokens) {
    if (pieces.has(token)) added.append(added_token(token, pieces[token].integer(), true));
  }
  return Json::object({{"version", "1.0"},
                       {"added_tokens", added},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", byte_level(prefix_space, true)},
                       {"post_processor", byte_level(true, false)},
                       {"decoder", byte_level(true, true)},
                       {"model", Json::object({{"type", "BPE"},
                                               {"dropout", nullptr},
                                               {"unk_token", nullptr},
                                               {"continuing_subword_prefix", ""},
                                               {"end_of_word_suffix", ""},
                                               {"fuse_unk", false},
                                               {"vocab", std::move(pieces)},
                                               {"merges", std::move(merges)}})}});
}

Json roberta_definition(Json pieces, Json merges, std::span<const std::string> special_tokens, bool prefix_space,
                        const Json& begin, const Json& end, std::string_view mask) {
  Json definition = with_token_that(gpt2_definition(std::move(pieces), std::move(merges), special_tokens, prefix_space),
                                    mask, "lstrip");
  definition.set("post_processor", Json::object({{"type", "RobertaProcessing"},
                                                 {"sep", end},
                                                 {"cls", begin},
                                                 {"trim_offsets", true},
                                                 {"add_prefix_space", prefix_space}}));
  return definition;
}

Json clip_definition(Json pieces, Json merges, const Json& begin, const Json& end) {
  const std::array<std::string, 2> tokens = {begin[Index{0}].string(), end[Index{0}].string()};
  // The one that begins a text may be spelled in capitals.
  Json definition =
      with_token_that(gpt2_definition(std::move(pieces), std::move(merges), tokens, false), tokens[0], "normalized");
  const auto step = [](std::string_view type) { return Json::object({{"type", type}}); };
  const auto regex = [](std::string_view pattern) { return Json::object({{"Regex", pattern}}); };
  definition.set(
      "normalizer",
      Json::object({{"type", "Sequence"},
                    {"normalizers",
                     Json::array({step("NFC"),
                                  Json::object({{"type", "Replace"}, {"pattern", regex(R"(\s+)")}, {"content", " "}}),
                                  step("Lowercase")})}}));
  constexpr std::string_view kWords = R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";
  definition.set("pre_tokenizer", Json::object({{"type", "Sequence"},
                                                {"pretokenizers", Json::array({Json::object({{"type", "Split"},
                                                                                             {"pattern", regex(kWords)},
                                                                                             {"behavior", "Removed"},
                                                                                             {"invert", true}}),
                                                                               byte_level(false, true)})}}));
  definition.set("post_processor", Json::object({{"type", "RobertaProcessing"},
                                                 {"sep", end},
                                                 {"cls", begin},
                                                 {"trim_offsets", false},
                                                 {"add_prefix_space", false}}));
  Json model = definition["model"];
  model.set("unk_token", tokens[1]);
  model.set("end_of_word_suffix", "</w>");
  definition.set("model", std::move(model));
  return definition;
}

Json mpnet_definition(Json bert, const BertRules& rules) {
  const Json pieces = bert["model"]["vocab"];
  const TemplateToken begin{rules.classifier, pieces[rules.classifier].integer()},
      end{rules.separator, pieces[rules.separator].integer()};
  bert.set("post_processor", template_definition({{begin}, {end}, {{end, end}}}));
  return with_token_that(std::move(bert), rules.mask, "lstrip");
}

Json with_added_tokens(Json definition, std::span<const Json> tokens) {
  Json added = Json::array();
  for (const Json& token : definition["added_tokens"].items()) {
    const auto is_same = [&](const Json& one) { return one["content"].string() == token["content"].string(); };
    if (std::ranges::none_of(tokens, is_same)) added.append(token);
  }
  for (const Json& token : tokens) added.append(token);
  definition.set("added_tokens", std::move(added));
  return definition;
}

Json with_token_that(Json definition, std::string_view content, std::string_view is) {
  Json added = Json::array();
  for (Json token : definition["added_tokens"].items()) {
    if (token["content"].string() == content) token.set(is, true);
    added.append(std::move(token));
  }
  definition.set("added_tokens", std::move(added));
  return definition;
}

Json bert_template(const TemplateToken& classifier, const TemplateToken& separator) {
  const Json first = special(classifier.text, 0), end = special(separator.text, 0);
  return Json::object(
      {{"type", "TemplateProcessing"},
       {"single", Json::array({first, sequence("A", 0), end})},
       {"pair", Json::array({first, sequence("A", 0), end, sequence("B", 1), special(separator.text, 1)})},
       {"special_tokens", Json::object({{classifier.text, template_token(classifier.text, classifier.id)},
                                        {separator.text, template_token(separator.text, separator.id)}})}});
}

Json template_definition(const TemplateTokens& tokens) {
  std::vector<Json::Member> known;
  const auto add = [&](std::vector<Json>& list, const std::vector<TemplateToken>& added, int type) {
    for (const TemplateToken& token : added) {
      list.push_back(special(token.text, type));
      if (std::ranges::none_of(known, [&](const Json::Member& one) { return one.first == token.text; }))
        known.emplace_back(token.text, template_token(token.text, token.id));
    }
  };
  std::vector<Json> single;
  add(single, tokens.before, 0);
  single.push_back(sequence("A", 0));
  std::vector<Json> pair = single;
  add(single, tokens.behind, 0);
  const int second = tokens.between ? 0 : 1;
  if (tokens.between) {
    add(pair, *tokens.between, 0);
  } else {
    add(pair, tokens.behind, 0);
    add(pair, tokens.before, second);
  }
  pair.push_back(sequence("B", second));
  add(pair, tokens.behind, second);
  return Json::object({{"type", "TemplateProcessing"},
                       {"single", Json::array(std::move(single))},
                       {"pair", Json::array(std::move(pair))},
                       {"special_tokens", Json::object(std::move(known))}});
}

Json merges_of(std::string_view text, std::string_view name) {
  std::vector<std::string> merges;
  Index number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    HEED_CHECK(space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos,
               "{}:{}: must be two pieces with one space between them, but is '{}'", name, number, printable(line));
    merges.emplace_back(line);
  }
  return Json::array_of(merges);
}

}  // namespace heed
