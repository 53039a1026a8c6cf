#include "heed/text/renumbered_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/text/fairseq_languages.h"
#include "heed/text/tokenizer/definitions.h"

namespace heed {
namespace {

using Type = PlainVocabulary::Type;

constexpr std::string_view kMask = "<mask>";
constexpr int kBegin = 0, kEnd = 2;  // as fairseq numbers them

int add(PlainVocabulary& plain, std::string_view piece, Type type, float score = 0) {
  plain.pieces.emplace_back(piece);
  plain.scores.push_back(score);
  plain.types.push_back(type);
  return static_cast<int>(plain.pieces.size()) - 1;
}

// The rules of the model, without its pieces.
PlainVocabulary rules_of(const PlainVocabulary& model) {
  return {.kind = model.kind,
          .space_prefix = model.space_prefix,
          .single_spaces = model.single_spaces,
          .character_map = model.character_map};
}

void add_from(PlainVocabulary& plain, const PlainVocabulary& model, std::size_t first) {
  for (std::size_t id = first; id < model.pieces.size(); ++id) {
    add(plain, model.pieces[id], model.types[id], model.scores[id]);
  }
}

void check_first(const PlainVocabulary& model, std::initializer_list<std::string_view> symbols,
                 std::string_view tokenizer_class, std::string_view name) {
  std::size_t id = 0;
  for (const std::string_view symbol : symbols) {
    HEED_CHECK(id < model.pieces.size() && model.pieces[id] == symbol,
               "{}: of a {}, the piece {} must be '{}', but is {}", name, tokenizer_class, id, symbol,
               id < model.pieces.size() ? fmt::format("'{}'", printable(model.pieces[id])) : "not there");
    ++id;
  }
}

// fairseq's symbols in the place of the model's own three.
PlainVocabulary with_fairseq_symbols(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  check_first(model, {"<unk>", "<s>", "</s>"}, how.tokenizer_class, name);
  PlainVocabulary plain = rules_of(model);
  for (const char* symbol : {"<s>", "<pad>", "</s>"}) add(plain, symbol, Type::control);
  plain.symbols.unknown = add(plain, "<unk>", Type::unknown);
  add_from(plain, model, 3);
  return plain;
}

// CamemBERT's: fairseq's symbols stand before all of the model's but the unknown one, and those of the model around a
// text.
PlainVocabulary camembert(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  check_first(model, {"<unk>", "<s>", "</s>"}, how.tokenizer_class, name);
  PlainVocabulary plain = rules_of(model);
  for (const char* symbol : {"<s>NOTUSED", "<pad>", "</s>NOTUSED"}) add(plain, symbol, Type::control);
  plain.symbols.unknown = add(plain, "<unk>", Type::unknown);
  const int begin = add(plain, "<unk>NOTUSED", Type::control) + 1, end = begin + 1;
  add_from(plain, model, 1);
  add(plain, kMask, Type::control);
  plain.before = {begin};
  plain.between = {end, end};
  plain.behind = {end};
  return plain;
}

// Adds tokens for languages; the id of the one that texts are in where nothing else is said.
int add_languages(PlainVocabulary& plain, std::span<const std::string_view> languages, std::string_view around,
                  std::string_view source, std::string_view name) {
  int chosen = -1;
  for (const std::string_view language : languages) {
    const int id = add(plain, fmt::format("{}{}{}", around, language, around), Type::control);
    if (language == source) chosen = id;
  }
  HEED_CHECK(chosen >= 0, "{}: src_lang is '{}', which is none of the model's {} languages", name, printable(source),
             languages.size());
  return chosen;
}

// "<s> A </s>" and "<s> A </s></s> B </s>"
PlainVocabulary xlm_roberta(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  PlainVocabulary plain = with_fairseq_symbols(model, how, name);
  add(plain, kMask, Type::control);
  plain.before = {kBegin};
  plain.between = {kEnd, kEnd};
  plain.behind = {kEnd};
  return plain;
}

// mBART's texts end with their language, mBART 50's begin with it.
PlainVocabulary mbart(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  const bool is_50 = how.tokenizer_class == "MBart50Tokenizer";
  PlainVocabulary plain = with_fairseq_symbols(model, how, name);
  const std::span<const std::string_view> all(kMbart50Languages);
  const int language = add_languages(plain, is_50 ? all : all.first(kMbartLanguageCount), "",
                                     how.source_language.empty() ? "en_XX" : how.source_language, name);
  add(plain, kMask, Type::control);
  plain.behind = {kEnd};
  if (is_50) {
    plain.before = {language};
  } else {
    plain.behind.push_back(language);
  }
  plain.between.emplace();
  return plain;
}

// A text's language stands before it, or, as NLLB's first tokenizers had it, behind its end.
PlainVocabulary nllb(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  PlainVocabulary plain = with_fairseq_symbols(model, how, name);
  const int language =
      add_languages(plain, kNllbLanguages, "", how.source_language.empty() ? "eng_Latn" : how.source_language, name);
  add(plain, kMask, Type::control);
  plain.behind = {kEnd};
  (how.language_behind ? plain.behind : plain.before).push_back(language);
  plain.between.emplace();
  return plain;
}

// Ids are those of a list, behind which languages come.
PlainVocabulary m2m100(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  HEED_CHECK(how.list, "{}: of a {}, vocab.json has the ids, which is not there", name, how.tokenizer_class);
  const std::vector<Json::Member> members = how.list->members();
  PlainVocabulary plain = rules_of(model);
  plain.pieces.resize(members.size());
  // An entry that the model has not never comes of a text: a byte's type is neither merged nor found as a token, and
  // any other way to cut has a better score.
  constexpr float kNeverChosen = -1e6F;
  plain.types.assign(members.size(), Type::byte);
  plain.scores.assign(members.size(), kNeverChosen);
  std::unordered_map<std::string_view, std::size_t> ids;
  for (const auto& [piece, id] : members) {
    const auto place = static_cast<std::size_t>(id.integer(0, std::ssize(members) - 1));
    if (piece.empty() || !plain.pieces[place].empty()) id.refuse("must be another piece's id than any other");
    plain.pieces[place] = piece;
    ids.emplace(piece, place);
  }
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const auto found = ids.find(model.pieces[i]);
    if (found == ids.end()) {
      HEED_CHECK(model.types[i] != Type::normal, "{}: vocab.json has no id for the piece '{}'", name,
                 printable(model.pieces[i]));
      continue;
    }
    plain.types[found->second] = model.types[i];
    plain.scores[found->second] = model.scores[i];
  }
  const auto id_of = [&](std::string_view symbol) {
    const auto found = ids.find(symbol);
    HEED_CHECK(found != ids.end(), "{}: vocab.json has no {}", name, symbol);
    return static_cast<int>(found->second);
  };
  plain.symbols.unknown = id_of("<unk>");
  const int end = id_of("</s>");
  for (const auto& [symbol, id] : ids) {
    if (symbol == "<unk>") plain.types[id] = Type::unknown;
    if (symbol == "<s>" || symbol == "<pad>" || symbol == "</s>") plain.types[id] = Type::control;
  }
  const bool wmt = how.language_set == "wmt21";
  HEED_CHECK(wmt || how.language_set.empty() || how.language_set == "m2m100",
             "{}: language_codes must be m2m100 or wmt21, but is '{}'", name, printable(how.language_set));
  const auto languages = wmt ? std::span<const std::string_view>(kWmt21Languages) : kM2m100Languages;
  const std::string_view source = how.source_language.empty() ? "en" : std::string_view(how.source_language);
  plain.before = {add_languages(plain, languages, "__", source, name)};
  plain.behind = {end};
  plain.between.emplace();
  return plain;
}

// The model's own symbols, two masks, tokens <unk_2> to <unk_102> that pre-training alone used, and then the rest.
PlainVocabulary pegasus(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  check_first(model, {"<pad>", "</s>"}, how.tokenizer_class, name);
  constexpr int kUnusedFrom = 2, kUnusedTo = 102, kOffset = 103;
  HEED_CHECK(how.offset.value_or(kOffset) == kOffset, "{}: of a {}, the offset must be {} or 0, but is {}", name,
             how.tokenizer_class, kOffset, *how.offset);
  PlainVocabulary plain = rules_of(model);
  add(plain, "<pad>", Type::control);
  const int end = add(plain, "</s>", Type::control);
  for (const char* mask : {"<mask_1>", "<mask_2>"}) add(plain, mask, Type::control);
  for (int i = kUnusedFrom; i <= kUnusedTo; ++i) add(plain, fmt::format("<unk_{}>", i), Type::control);
  add_from(plain, model, 2);
  plain.symbols.unknown = model.symbols.unknown + kOffset;
  plain.behind = {end};
  plain.between.emplace();
  return plain;
}

using Renumber = PlainVocabulary (*)(const PlainVocabulary&, const Renumbering&, std::string_view);
constexpr std::array<std::pair<std::string_view, Renumber>, 7> kClasses = {{{"XLMRobertaTokenizer", xlm_roberta},
                                                                            {"CamembertTokenizer", camembert},
                                                                            {"NllbTokenizer", nllb},
                                                                            {"MBartTokenizer", mbart},
                                                                            {"MBart50Tokenizer", mbart},
                                                                            {"M2M100Tokenizer", m2m100},
                                                                            {"PegasusTokenizer", pegasus}}};

const auto* class_named(std::string_view tokenizer_class) {
  return std::ranges::find(kClasses, tokenizer_class, [](const auto& row) { return row.first; });
}

}  // namespace

bool is_renumbered(std::string_view tokenizer_class) { return class_named(tokenizer_class) != kClasses.end(); }

Json renumbered_definition(const PlainVocabulary& model, const Renumbering& how, std::string_view name) {
  const auto* const known = class_named(how.tokenizer_class);
  HEED_CHECK(known != kClasses.end(), "{}: heed knows no other ids for the pieces of a {}", name, how.tokenizer_class);
  return with_token_that(tokenizer_definition(known->second(model, how, name), name), kMask, "lstrip");
}

}  // namespace heed
