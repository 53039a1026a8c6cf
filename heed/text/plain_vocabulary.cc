#include "heed/text/plain_vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heed/base/blanks.h"
#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/io/base64.h"
#include "heed/io/json.h"
#include "heed/text/tokenizer/definitions.h"
#include "heed/text/tokenizer/symbols.h"

namespace heed {
namespace {

using Kind = PlainVocabulary::Kind;
using Type = PlainVocabulary::Type;

bool is_byte_piece(std::string_view piece) {
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>');
}

std::string with_marks(std::string_view piece) {
  std::string marked;
  for (const char byte : piece) {
    if (byte == ' ') {
      marked += kSpaceMark;
    } else {
      marked += byte;
    }
  }
  return marked;
}

// What is not said follows from the names: "<0x0A>" is a byte, and a symbol of a text is no text.
std::vector<Type> types_of(const PlainVocabulary& plain) {
  if (!plain.types.empty()) return plain.types;
  std::vector<Type> types(plain.pieces.size(), Type::normal);
  if (plain.kind == Kind::llama || plain.kind == Kind::t5) {
    for (std::size_t id = 0; id < types.size(); ++id) {
      if (is_byte_piece(plain.pieces[id])) types[id] = Type::byte;
    }
  }
  const SymbolIds& symbols = plain.symbols;
  for (const int id : {symbols.pad, symbols.begin, symbols.end, symbols.classifier, symbols.separator, symbols.mask}) {
    if (id >= 0) types[static_cast<std::size_t>(id)] = Type::control;
  }
  if (symbols.unknown >= 0) types[static_cast<std::size_t>(symbols.unknown)] = Type::unknown;
  return types;
}

void check(const PlainVocabulary& plain, std::string_view name) {
  const std::size_t count = plain.pieces.size();
  HEED_CHECK(count > 0, "{}: the vocabulary has no pieces", name);
  HEED_CHECK(plain.types.empty() || plain.types.size() == count, "{}: the vocabulary has {} pieces and {} types", name,
             count, plain.types.size());
  const bool needs_scores = plain.kind == Kind::llama || plain.kind == Kind::t5;
  HEED_CHECK(!needs_scores || plain.scores.size() == count, "{}: the vocabulary has {} pieces and {} scores", name,
             count, plain.scores.size());
  check_symbols(plain.symbols, static_cast<Index>(count), name);
  for (std::size_t id = 0; id < count; ++id) {
    HEED_CHECK(valid_utf8(plain.pieces[id]), "{}: the piece {} is not valid UTF-8: '{}'", name, id,
               printable(plain.pieces[id]));
    HEED_CHECK(!needs_scores || std::isfinite(plain.scores[id]), "{}: the piece {} has the score {}", name, id,
               plain.scores[id]);
  }
}

// The tokens that a text may spell.
Json added_tokens(const std::vector<std::string>& pieces, const std::vector<Type>& types) {
  std::vector<Json> added;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const Type type = types[id];
    if (pieces[id].empty() || (type != Type::control && type != Type::user_defined && type != Type::unknown)) continue;
    added.push_back(added_token(pieces[id], static_cast<Index>(id), type != Type::user_defined));
  }
  return Json::array(std::move(added));
}

Json post_processor(const PlainVocabulary& plain, const std::vector<std::string>& pieces, std::string_view name) {
  const auto tokens = [&](const std::vector<int>& ids) {
    std::vector<TemplateToken> list;
    for (const int id : ids) {
      HEED_CHECK(id >= 0 && id < std::ssize(pieces), "{}: a text has a symbol around it that the vocabulary has not",
                 name);
      list.push_back({pieces[static_cast<std::size_t>(id)], id});
    }
    return list;
  };
  TemplateTokens around{tokens(plain.before), tokens(plain.behind), {}};
  if (plain.between) around.between = tokens(*plain.between);
  return template_definition(around);
}

Json step(std::string_view type) { return Json::object({{"type", type}}); }
Json replace(Json pattern, std::string_view content) {
  return Json::object({{"type", "Replace"}, {"pattern", std::move(pattern)}, {"content", content}});
}
Json text(std::string_view literal) { return Json::object({{"String", literal}}); }
Json regex(std::string_view pattern) { return Json::object({{"Regex", pattern}}); }

// SentencePiece's: its table, its treatment of spaces, and a mark for each.
Json sentencepiece_normaliser(const PlainVocabulary& plain) {
  std::vector<Json> steps;
  if (!plain.character_map.empty()) {
    steps.push_back(Json::object({{"type", "Precompiled"}, {"precompiled_charsmap", base64(plain.character_map)}}));
  }
  if (plain.single_spaces) {
    steps.push_back(replace(regex(R"(\A +| +\z)"), ""));  // no other blanks
    steps.push_back(replace(regex(" {2,}"), " "));
  }
  if (plain.space_prefix) steps.push_back(Json::object({{"type", "Prepend"}, {"prepend", kSpaceMark}}));
  steps.push_back(replace(text(" "), kSpaceMark));
  return Json::object({{"type", "Sequence"}, {"normalizers", Json::array(std::move(steps))}});
}

Json sentencepiece_decoder(const PlainVocabulary& plain) {
  std::vector<Json> steps = {replace(text(kSpaceMark), " "), step("ByteFallback"), step("Fuse")};
  if (plain.space_prefix)
    steps.push_back(Json::object({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}));
  return Json::object({{"type", "Sequence"}, {"decoders", Json::array(std::move(steps))}});
}

Json scored_pieces(const std::vector<std::string>& pieces, const std::vector<float>& scores) {
  std::vector<Json> list;
  list.reserve(pieces.size());
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    list.push_back(Json::array({pieces[id], static_cast<double>(scores[id])}));
  }
  return Json::array(std::move(list));
}

Json llama_definition(const PlainVocabulary& plain, std::vector<std::string>& pieces, const std::vector<Type>& types) {
  std::vector<Index> unmergeable;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    if (types[id] == Type::normal) {
      pieces[id] = with_marks(pieces[id]);
    } else if (types[id] != Type::unused) {
      unmergeable.push_back(static_cast<Index>(id));
    }
  }
  const int unknown = plain.symbols.unknown;
  return Json::object({{"normalizer", sentencepiece_normaliser(plain)},
                       {"pre_tokenizer", nullptr},
                       {"decoder", sentencepiece_decoder(plain)},
                       {"model", Json::object({{"type", "ScoredBPE"},
                                               {"unk_token", unknown < 0 ? Json() : Json(pieces[unknown])},
                                               {"fuse_unk", true},
                                               {"byte_fallback", true},
                                               {"unmergeable", Json::array_of(unmergeable)},
                                               {"vocab", scored_pieces(pieces, plain.scores)}})}});
}

Json t5_definition(const PlainVocabulary& plain, const std::vector<std::string>& pieces) {
  const int unknown = plain.symbols.unknown;
  return Json::object({{"normalizer", sentencepiece_normaliser(plain)},
                       {"pre_tokenizer", nullptr},
                       {"decoder", sentencepiece_decoder(plain)},
                       {"model", Json::object({{"type", "Unigram"},
                                               {"unk_id", unknown < 0 ? Json() : Json(unknown)},
                                               {"byte_fallback", true},
                                               {"vocab", scored_pieces(pieces, plain.scores)}})}});
}

// --- Where text is cut -----------------------------------------------------------------------------------------------

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
    R"(\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
// DeepSeek's third model: words that may begin with a sign, and signs.
constexpr std::string_view kDeepseek =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Json byte_level(bool cuts) {
  return Json::object({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", cuts}});
}
Json digits(bool each) { return Json::object({{"type", "Digits"}, {"individual_digits", each}}); }
Json at_matches(std::string_view pattern) {
  return Json::object({{"type", "Split"}, {"pattern", regex(pattern)}, {"behavior", "Isolated"}, {"invert", false}});
}

// Steps of a pre-tokenizer, one behind the other.
std::vector<Json> gpt2_steps() { return {byte_level(true)}; }
std::vector<Json> llama3_steps() { return {at_matches(kLlama3), byte_level(false)}; }
std::vector<Json> qwen2_steps() { return {at_matches(kQwen2), byte_level(false)}; }
std::vector<Json> gpt4o_steps() { return {at_matches(kGpt4o), byte_level(false)}; }
std::vector<Json> tekken_steps() { return {at_matches(kTekken), byte_level(false)}; }
std::vector<Json> bloom_steps() { return {at_matches(kBloom), byte_level(false)}; }
std::vector<Json> starcoder_steps() { return {digits(true), byte_level(true)}; }
std::vector<Json> falcon_steps() {
  return {Json::object({{"type", "Punctuation"}, {"behavior", "Contiguous"}}), byte_level(true), digits(false),
          at_matches("[0-9][0-9][0-9]")};
}
std::vector<Json> deepseek_coder_steps() {
  return {at_matches(R"([\r\n])"),
          at_matches(R"(\s?\p{L}+)"),
          at_matches(R"(\s?\p{P}+)"),
          at_matches("[一-龥ࠀ-一가-\uD7FF]+"),
          digits(true),
          byte_level(false)};
}
std::vector<Json> deepseek_steps() {
  return {at_matches(R"(\p{N}{1,3})"), at_matches("[一-龥\u3040-ゟ゠-ヿ]+"), at_matches(kDeepseek), byte_level(false)};
}

struct Cut {
  std::string_view name;
  std::vector<Json> (*steps)();
  // A word that is a piece is that piece, whatever its merges would make of it; a text begins with the begin token.
  bool is_llama3s = false;
};
constexpr std::array<Cut, 56> kCuts = {{
    {"", gpt2_steps},
    {"default", gpt2_steps},
    {"gpt-2", gpt2_steps},
    {"gpt2", gpt2_steps},
    {"phi-2", gpt2_steps},
    {"roberta-bpe", gpt2_steps},
    {"jina-es", gpt2_steps},
    {"jina-de", gpt2_steps},
    {"jina-v1-en", gpt2_steps},
    {"jina-v2-es", gpt2_steps},
    {"jina-v2-de", gpt2_steps},
    {"jina-v2-code", gpt2_steps},
    {"gigachat", gpt2_steps},
    {"mellum", gpt2_steps},
    {"mpt", gpt2_steps},
    {"olmo", gpt2_steps},
    {"a.x-4.0", gpt2_steps},
    {"exaone4", gpt2_steps},
    {"modern-bert", gpt2_steps},
    {"llama3", llama3_steps, true},
    {"llama-v3", llama3_steps, true},
    {"llama-bpe", llama3_steps, true},
    {"falcon3", llama3_steps, true},
    {"falcon-h1", llama3_steps, true},
    {"pixtral", llama3_steps, true},
    {"midm-2.0", llama3_steps, true},
    {"lfm2", llama3_steps, true},
    {"jina-v5-nano", llama3_steps, true},
    {"dbrx", llama3_steps},
    {"smaug-bpe", llama3_steps},
    {"glm4", llama3_steps},
    {"chatglm-bpe", llama3_steps},
    {"qwen2", qwen2_steps},
    {"stablelm2", qwen2_steps},
    {"deepseek-r1-qwen", qwen2_steps},
    {"megrez", qwen2_steps},
    {"kormo", qwen2_steps},
    {"f2llmv2", qwen2_steps},
    {"gpt-4o", gpt4o_steps},
    {"llama4", gpt4o_steps},
    {"kanana2", gpt4o_steps},
    {"talkie", gpt4o_steps},
    {"tekken", tekken_steps, true},
    {"bloom", bloom_steps},
    {"gpt3-finnish", bloom_steps},
    {"poro-chat", bloom_steps},
    {"starcoder", starcoder_steps},
    {"refact", starcoder_steps},
    {"smollm", starcoder_steps},
    {"command-r", starcoder_steps},
    {"codeshell", starcoder_steps},
    {"exaone", starcoder_steps},
    {"minerva-7b", starcoder_steps},
    {"falcon", falcon_steps},
    {"deepseek-coder", deepseek_coder_steps},
    {"deepseek-v3", deepseek_steps},
}};

const Cut& cut_named(std::string_view cut, std::string_view name) {
  const auto known = std::ranges::find(kCuts, cut, &Cut::name);
  HEED_CHECK(known != kCuts.end(), "{}: text is to be cut as '{}', which is not known", name, printable(cut));
  return *known;
}

Json gpt2_definition(const PlainVocabulary& plain, const std::vector<std::string>& pieces, std::string_view name) {
  std::vector<Json::Member> vocabulary;
  vocabulary.reserve(pieces.size());
  std::unordered_map<std::string_view, std::size_t> first;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const auto [earlier, is_new] = first.emplace(pieces[id], id);
    HEED_CHECK(is_new, "{}: the pieces {} and {} are both '{}'", name, earlier->second, id, printable(pieces[id]));
    vocabulary.emplace_back(pieces[id], static_cast<Index>(id));
  }
  const Cut& cut = cut_named(plain.cut, name);
  return Json::object(
      {{"normalizer", nullptr},
       {"pre_tokenizer", Json::object({{"type", "Sequence"}, {"pretokenizers", Json::array(cut.steps())}})},
       {"decoder", step("ByteLevel")},
       {"model", Json::object({{"type", "BPE"},
                               {"ignore_merges", cut.is_llama3s},
                               {"vocab", Json::object(std::move(vocabulary))},
                               {"merges", Json::array_of(plain.merges)}})}});
}

// llama.cpp writes "dog" as "▁dog" and "##s" as "s".
std::vector<std::string> word_pieces(const std::vector<std::string>& pieces, const std::vector<Type>& types) {
  if (std::ranges::any_of(pieces, [](const std::string& piece) { return piece.starts_with("##"); })) return pieces;
  std::vector<std::string> restored;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string& piece = pieces[id];
    if (piece.starts_with(kSpaceMark)) {
      restored.push_back(piece.substr(kSpaceMark.size()));
    } else {
      restored.push_back(types[id] == Type::normal && !(piece.starts_with('[') && piece.ends_with(']')) ? "##" + piece
                                                                                                        : piece);
    }
  }
  return restored;
}

Json bert_definition(const PlainVocabulary& plain, const std::vector<std::string>& pieces, std::string_view name) {
  const auto piece = [&](int id, std::string_view otherwise) {
    return id < 0 ? std::string(otherwise) : pieces[static_cast<std::size_t>(id)];
  };
  const SymbolIds& symbols = plain.symbols;
  const BertRules rules{.lower = plain.lower,
                        .strips_accents = plain.lower,
                        .unknown = piece(symbols.unknown, "[UNK]"),
                        .classifier = piece(symbols.classifier >= 0 ? symbols.classifier : symbols.begin, "[CLS]"),
                        .separator = piece(symbols.separator >= 0 ? symbols.separator : symbols.end, "[SEP]"),
                        .pad = piece(symbols.pad, "[PAD]"),
                        .mask = piece(symbols.mask, "[MASK]")};
  return heed::bert_definition(pieces, rules, name);
}

}  // namespace

Json tokenizer_definition(const PlainVocabulary& plain, std::string_view name) {
  check(plain, name);
  const std::vector<Type> types = types_of(plain);
  std::vector<std::string> pieces = plain.kind == Kind::bert ? word_pieces(plain.pieces, types) : plain.pieces;
  Json definition;
  switch (plain.kind) {
    case Kind::llama:
      definition = llama_definition(plain, pieces, types);
      break;
    case Kind::t5:
      definition = t5_definition(plain, pieces);
      break;
    case Kind::gpt2:
      definition = gpt2_definition(plain, pieces, name);
      break;
    case Kind::bert:
      definition = bert_definition(plain, pieces, name);
      break;
  }
  if (plain.kind != Kind::bert) {
    definition.set("added_tokens", added_tokens(pieces, types));
    definition.set("post_processor", post_processor(plain, pieces, name));
  }
  return definition;
}

bool begins_texts(std::string_view cut) {
  const auto known = std::ranges::find(kCuts, cut, &Cut::name);
  return known != kCuts.end() && known->is_llama3s;
}

Tokenizer make_tokenizer(const PlainVocabulary& plain, std::string_view name) {
  return Tokenizer::from_definition(tokenizer_definition(plain, name), name).with_symbols(plain.symbols);
}

}  // namespace heed
