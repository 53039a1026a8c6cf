#include "heed/text/open_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/text/albert_definition.h"
#include "heed/text/byt5_definition.h"
#include "heed/text/extra_tokens.h"
#include "heed/text/renumbered_pieces.h"
#include "heed/text/sentencepiece_pieces.h"
#include "heed/text/sentencepiece_tokenizer.h"
#include "heed/text/sentencepiece_words.h"
#include "heed/text/tokenizer/definitions.h"
#include "heed/text/tokenizer/symbols.h"
#include "heed/text/tokenizer/tokenizer.h"
#include "heed/text/tokenizer_settings.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kModels = {"tokenizer.model", "spiece.model", "spm.model",
                                                     "sentencepiece.model", "sentencepiece.bpe.model"};
constexpr std::string_view kByt5 = "ByT5Tokenizer";  // which has no file of its own
constexpr std::array<std::string_view, 3> kSidesFiles = {"source.spm", "target.spm", "vocab.json"};

// A model of any other name, where the folder has no other.
std::optional<fs::path> only_model(const fs::path& folder) {
  std::optional<fs::path> model;
  for (const fs::path& file : files_in(folder)) {
    if (file.extension() != ".model") continue;
    if (model) return std::nullopt;
    model = file;
  }
  return model;
}

bool has_all(const fs::path& folder, std::span<const std::string_view> names) {
  return std::ranges::all_of(names, [&](std::string_view name) { return file_exists(folder / name); });
}

// The symbols that the files name, on top of those that the pieces suggest.
std::unique_ptr<Vocabulary> with_settings(const Tokenizer& tokenizer, const TokenizerSettings& settings) {
  SymbolIds symbols = tokenizer.symbols();
  settings.name_symbols([&](std::string_view piece) { return tokenizer.id_of(piece); }, symbols);
  return std::make_unique<Tokenizer>(tokenizer.with_symbols(symbols));
}

// With what was added to its pieces; and pieces that the settings name as tokens are found in a text, too.
std::unique_ptr<Vocabulary> tokenizer_of(Json definition, const fs::path& name, const TokenizerSettings& settings) {
  definition = with_added_tokens(std::move(definition), settings.added_tokens());
  Tokenizer tokenizer = Tokenizer::from_definition(definition, name.string());
  const std::vector<Json> added = definition["added_tokens"].items();
  std::vector<Json> named;
  for (const std::string& token : settings.tokens()) {
    const int id = tokenizer.id_of(token);
    const bool is_added = std::ranges::any_of(added, [&](const Json& one) { return one["content"].string() == token; });
    if (id >= 0 && !is_added) named.push_back(added_token(token, id, true));
  }
  if (named.empty()) return with_settings(tokenizer, settings);
  return with_settings(Tokenizer::from_definition(with_added_tokens(std::move(definition), named), name.string()),
                       settings);
}

std::unique_ptr<Vocabulary> open_renumbered(const fs::path& path, const TokenizerSettings& settings) {
  Renumbering how{.tokenizer_class = settings.tokenizer_class(),
                  .source_language = settings.token("src_lang", ""),
                  .language_behind = settings.flag("legacy_behaviour").value_or(false),
                  .language_set = settings.token("language_codes", ""),
                  .offset = settings.number("offset")};
  if (const fs::path list = path.parent_path() / "vocab.json"; file_exists(list)) how.list = read_json(list);
  const std::string name = path.string();
  const PlainVocabulary model = read_sentencepiece_pieces(read_file(path), name);
  return tokenizer_of(renumbered_definition(model, how, name), path, settings);
}

std::unique_ptr<Vocabulary> open_albert(const fs::path& path, const TokenizerSettings& settings) {
  const std::string name = path.string();
  const AlbertRules rules{.lower = settings.flag("do_lower_case").value_or(true),
                          .keeps_accents = settings.flag("keep_accents").value_or(false)};
  return tokenizer_of(albert_definition(read_sentencepiece_pieces(read_file(path), name), rules, name), path, settings);
}

// T5's extra tokens behind so many pieces, the first of them last, where the files do not say what was added to them.
std::vector<Json> with_extra_tokens(std::vector<Json> added, Index pieces, const TokenizerSettings& settings,
                                    std::string_view name) {
  if (std::ranges::any_of(added, [](const Json& one) { return is_extra_token(one["content"].string()); })) return added;
  const Index count = std::ssize(extra_tokens(settings, 100, name));
  std::vector<Json> all;
  for (Index i = 0; i < count; ++i) {
    Json token = added_token(fmt::format("<extra_id_{}>", count - 1 - i), pieces + i, true);
    token.set("lstrip", true), token.set("rstrip", true);
    all.push_back(std::move(token));
  }
  std::ranges::move(added, std::back_inserter(all));
  return all;
}

// What was added behind a model's pieces, whose ids go on where those end: others are of another model.
std::vector<Json> added_behind(const PlainVocabulary& model, const std::vector<Json>& all) {
  std::vector<Json> added;
  for (const Json& token : all) {
    if (token["id"].integer() == std::ssize(model.pieces) + std::ssize(added)) added.push_back(token);
  }
  return added;
}

// A model's pieces with more tokens, which SentencePiece's library does not know.
std::unique_ptr<Vocabulary> with_tokens_behind(PlainVocabulary model, std::span<const Json> added,
                                               const SentencePieceTemplate& around, const fs::path& path,
                                               const TokenizerSettings& settings) {
  const auto symbol = [&](std::string_view key, std::string_view otherwise) {
    const std::string token = settings.token(key, otherwise);
    const auto found = std::ranges::find(model.pieces, token);
    HEED_CHECK(found != model.pieces.end(), "{}: has no piece '{}', which is to stand around texts", path.string(),
               token);
    return static_cast<int>(found - model.pieces.begin());
  };
  if (around.begins) model.before = {symbol("bos_token", "<s>")};
  if (around.ends) model.behind = {symbol("eos_token", "</s>")};
  return tokenizer_of(with_added_tokens(tokenizer_definition(model, path.string()), added), path, settings);
}

std::unique_ptr<Vocabulary> open_sentencepiece(const fs::path& path, const TokenizerSettings& settings) {
  const std::string kind = settings.tokenizer_class();
  const bool keeps_ids = settings.number("offset") == 0;  // of some PEGASUS
  if (is_renumbered(kind) && !keeps_ids) return open_renumbered(path, settings);
  if (kind == "AlbertTokenizer") return open_albert(path, settings);
  for (const std::string_view other : {"BarthezTokenizer", "XGLMTokenizer", "BigBirdTokenizer", "DebertaV2Tokenizer",
                                       "XLNetTokenizer", "RemBertTokenizer", "FNetTokenizer"}) {
    HEED_CHECK(kind != other,
               "{}: a tokenizer of the class {} does more than its model says, and heed knows that from tokenizer.json "
               "alone",
               path.string(), kind);
  }
  // Of Llama's and Gemma's, texts begin with a symbol where nothing else is said, and of T5's they end with one.
  const bool begins = kind == "LlamaTokenizer" || kind == "CodeLlamaTokenizer" || kind == "GemmaTokenizer";
  const bool is_t5 = kind == "T5Tokenizer" || kind == "MT5Tokenizer";
  const bool ends = is_t5 || kind == "PegasusTokenizer";
  const SentencePieceTemplate around{settings.flag("add_bos_token").value_or(begins),
                                     settings.flag("add_eos_token").value_or(ends)};
  if (std::vector<Json> all = settings.added_tokens(); is_t5 || !all.empty()) {
    PlainVocabulary model = read_sentencepiece_pieces(read_file(path), path.string());
    if (is_t5) all = with_extra_tokens(std::move(all), std::ssize(model.pieces), settings, path.string());
    if (const std::vector<Json> added = added_behind(model, all); !added.empty())
      return with_tokens_behind(std::move(model), added, around, path, settings);
  }
  return std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::load(path, around));
}

std::unique_ptr<Vocabulary> open_gpt2(const fs::path& folder, const TokenizerSettings& settings) {
  const Json pieces = read_json(folder / "vocab.json");
  const Json merges = merges_of(read_file(folder / "merges.txt"), (folder / "merges.txt").string());
  const std::string kind = settings.tokenizer_class();
  const auto is_one_of = [&](std::initializer_list<std::string_view> kinds) {
    return std::ranges::find(kinds, kind) != kinds.end();
  };
  const bool clip = kind == "CLIPTokenizer" || (kind.empty() && pieces.has("<|startoftext|>") && pieces.has("a</w>"));
  const bool roberta =
      is_one_of({"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"}) ||
      (kind.empty() && pieces.has("<s>") && pieces.has("</s>"));
  HEED_CHECK(clip || roberta || kind.empty() || is_one_of({"GPT2Tokenizer", "GPTNeoXTokenizer", "CodeGenTokenizer"}),
             "{}: vocab.json and merges.txt of a {}, which heed knows from tokenizer.json alone", folder.string(),
             kind);
  std::vector<std::string> tokens = settings.tokens();
  const auto may_spell = [&](std::initializer_list<const char*> usual) {
    for (const char* token : usual) {
      if (std::ranges::find(tokens, token) == tokens.end()) tokens.emplace_back(token);
    }
  };
  roberta ? may_spell({"<s>", "</s>", "<unk>", "<pad>", "<mask>"}) : may_spell({"<|endoftext|>"});
  const bool prefix_space = settings.flag("add_prefix_space").value_or(false);
  const auto token = [&](std::string_view key, std::string_view otherwise) {
    const std::string text = settings.token(key, otherwise);
    return Json::array({text, pieces[text]});
  };
  Json definition;
  if (clip) {
    definition =
        clip_definition(pieces, merges, token("bos_token", "<|startoftext|>"), token("eos_token", "<|endoftext|>"));
  } else if (roberta) {
    definition = roberta_definition(pieces, merges, tokens, prefix_space, token("cls_token", "<s>"),
                                    token("sep_token", "</s>"), settings.token("mask_token", "<mask>"));
  } else {
    definition = gpt2_definition(pieces, merges, tokens, prefix_space);
    if (settings.flag("add_bos_token").value_or(false)) {
      const std::string begin = settings.token("bos_token", "<|endoftext|>");
      definition.set("post_processor", template_definition({{{begin, pieces[begin].integer(0)}}, {}, {}}));
    }
  }
  return tokenizer_of(definition, folder, settings);
}

std::unique_ptr<Vocabulary> open_bert(const fs::path& folder, const TokenizerSettings& settings) {
  const fs::path path = folder / "vocab.txt";
  const std::string& kind = settings.tokenizer_class();
  for (const std::string_view other : {"BertJapaneseTokenizer", "PhobertTokenizer", "BertweetTokenizer"}) {
    HEED_CHECK(kind != other, "{}: a {} cuts words as heed does not", path.string(), kind);
  }
  std::vector<std::string> pieces;
  std::string_view rest;
  const std::string text = read_file(path);
  for (rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    pieces.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const bool lower = settings.flag("do_lower_case").value_or(true);
  const bool mpnet = kind == "MPNetTokenizer";
  const BertRules rules{.lower = lower,
                        .chinese = settings.flag("tokenize_chinese_chars").value_or(true),
                        .strips_accents = settings.flag("strip_accents").value_or(lower),
                        .unknown = settings.token("unk_token", "[UNK]"),
                        .classifier = settings.token("cls_token", mpnet ? "<s>" : "[CLS]"),
                        .separator = settings.token("sep_token", mpnet ? "</s>" : "[SEP]"),
                        .pad = settings.token("pad_token", mpnet ? "<pad>" : "[PAD]"),
                        .mask = settings.token("mask_token", mpnet ? "<mask>" : "[MASK]")};
  Json definition = bert_definition(pieces, rules, path.string());
  if (mpnet) definition = mpnet_definition(std::move(definition), rules);
  return tokenizer_of(std::move(definition), path, settings);
}

std::unique_ptr<Vocabulary> open_byt5(const fs::path& folder, const TokenizerSettings& settings) {
  const Byt5Rules rules{.pad = settings.token("pad_token", "<pad>"),
                        .end = settings.token("eos_token", "</s>"),
                        .unknown = settings.token("unk_token", "<unk>"),
                        .extra = extra_tokens(settings, 125, folder.string())};
  return tokenizer_of(byt5_definition(rules, folder.string()), folder, settings);
}

}  // namespace

std::unique_ptr<Vocabulary> open_tokenizer(const fs::path& folder, TokenizerSide side) {
  const TokenizerSettings settings(folder);
  if (const fs::path path = folder / "tokenizer.json"; file_exists(path))
    return with_settings(Tokenizer::load(path), settings);
  if (settings.tokenizer_class() == kByt5) return open_byt5(folder, settings);
  if (has_all(folder, kSidesFiles)) {
    const bool source = side == TokenizerSide::source;
    const bool apart = !source && file_exists(folder / "target_vocab.json");
    return std::make_unique<SentencePieceWords>(SentencePieceWords::load(
        folder / (source ? "source.spm" : "target.spm"), folder / (apart ? "target_vocab.json" : "vocab.json")));
  }
  for (const std::string_view name : kModels) {
    if (file_exists(folder / name)) return open_sentencepiece(folder / name, settings);
  }
  if (file_exists(folder / "vocab.json") && file_exists(folder / "merges.txt")) return open_gpt2(folder, settings);
  if (file_exists(folder / "vocab.txt")) return open_bert(folder, settings);
  if (const auto model = only_model(folder)) return open_sentencepiece(*model, settings);
  fail("{}: has no tokenizer: neither tokenizer.json, nor {}, nor vocab.json with merges.txt, nor vocab.txt",
       folder.string(), fmt::join(kModels, ", "));
}

bool has_tokenizer(const fs::path& folder) {
  const auto has = [&](std::string_view name) { return file_exists(folder / name); };
  return has("tokenizer.json") || has_all(folder, kSidesFiles) || std::ranges::any_of(kModels, has) ||
         (has("vocab.json") && has("merges.txt")) || has("vocab.txt") || only_model(folder).has_value() ||
         TokenizerSettings(folder).tokenizer_class() == kByt5;
}

}  // namespace heed
