#include "heed/text/open_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/io/json.h"
#include "heed/text/albert_definition.h"
#include "heed/text/renumbered_pieces.h"
#include "heed/text/sentencepiece_pieces.h"
#include "heed/text/sentencepiece_tokenizer.h"
#include "heed/text/sentencepiece_words.h"
#include "heed/text/tokenizer/definitions.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/symbols.h"
#include "heed/text/tokenizer/tokenizer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kModels = {"tokenizer.model", "spiece.model", "spm.model",
                                                     "sentencepiece.model", "sentencepiece.bpe.model"};
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

// Of types of models whose tokenizers do more than their files say.
constexpr std::pair<std::string_view, std::string_view> kClassesOfModels[] = {
    {"albert", "AlbertTokenizer"},         {"big_bird", "BigBirdTokenizer"},
    {"camembert", "CamembertTokenizer"},   {"gemma", "GemmaTokenizer"},
    {"gemma2", "GemmaTokenizer"},          {"llama", "LlamaTokenizer"},
    {"m2m_100", "M2M100Tokenizer"},        {"mbart", "MBartTokenizer"},
    {"mistral", "LlamaTokenizer"},         {"mt5", "T5Tokenizer"},
    {"pegasus", "PegasusTokenizer"},       {"t5", "T5Tokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"}};

// The class that a model's config.json names, or that goes with its type.
std::string class_of_model(const Json& config) {
  if (config.kind() != Json::Kind::object) return {};
  if (is_given(config, "tokenizer_class")) return config["tokenizer_class"].string();
  if (!is_given(config, "model_type")) return {};
  const std::string type = config["model_type"].string();
  const auto* const found = std::ranges::find(kClassesOfModels, type, [](const auto& row) { return row.first; });
  return found == std::end(kClassesOfModels) ? std::string() : std::string(found->second);
}

// What the files beside a vocabulary say of it.
class Settings {
 public:
  explicit Settings(const fs::path& folder) : folder_(folder) {
    for (const std::string_view name : {"special_tokens_map.json", "tokenizer_config.json"}) {
      if (file_exists(folder / name)) files_.push_back(read_json(folder / name));
    }
    class_ = token("tokenizer_class", "");
    if (class_.empty() && file_exists(folder / "config.json"))
      class_ = class_of_model(read_json(folder / "config.json"));
    if (class_.ends_with("Fast")) class_.resize(class_.size() - 4);
  }

  // The last file that speaks of a symbol is right about it.
  void name_symbols(const FindPiece& find, SymbolIds& symbols) const {
    for (const Json& file : files_) heed::name_symbols(file, find, symbols);
  }
  std::optional<bool> flag(std::string_view key) const {
    for (const Json& file : files_) {
      if (is_given(file, key)) return file[key].boolean();
    }
    return std::nullopt;
  }
  std::optional<Index> number(std::string_view key) const {
    for (const Json& file : files_) {
      if (is_given(file, key)) return file[key].integer(0);
    }
    return std::nullopt;
  }
  // A token's text, which may be an object's "content".
  std::string token(std::string_view key, std::string_view otherwise) const {
    for (const Json& file : files_) {
      if (!is_given(file, key)) continue;
      return file[key].kind() == Json::Kind::object ? file[key]["content"].string() : file[key].string();
    }
    return std::string(otherwise);
  }
  // As the files name it, or else as the model's configuration does, or its type; empty where nothing does.
  const std::string& tokenizer_class() const { return class_; }
  // What was added to the vocabulary's pieces, by id: tokenizer_config.json has it whole, added_tokens.json the ids.
  std::vector<Json> added_tokens() const {
    std::map<Index, Json> tokens;
    for (const Json& file : files_) {
      if (!is_given(file, "added_tokens_decoder")) continue;
      for (auto [id, token] : file["added_tokens_decoder"].members()) {
        token.set("id", number_of(id, token));
        tokens.insert_or_assign(token["id"].integer(), std::move(token));
      }
    }
    if (!tokens.empty() || !file_exists(folder_ / "added_tokens.json")) return values_of(tokens);
    const std::vector<std::string> named = this->tokens();
    for (const auto& [content, id] : read_json(folder_ / "added_tokens.json").members()) {
      const bool special = std::ranges::find(named, content) != named.end();
      tokens.insert_or_assign(id.integer(0), added_token(content, id.integer(), special));
    }
    return values_of(tokens);
  }
  // The tokens that it names, whatever for.
  std::vector<std::string> tokens() const {
    std::vector<std::string> all;
    for (const char* key :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
      if (std::string one = token(key, ""); !one.empty()) all.push_back(std::move(one));
    }
    return all;
  }

 private:
  static Index number_of(const std::string& digits, const Json& token) {
    Index number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) token.refuse("must have an id for its key");
    return number;
  }
  static std::vector<Json> values_of(const std::map<Index, Json>& tokens) {
    std::vector<Json> values;
    for (const auto& [id, token] : tokens) values.push_back(token);
    return values;
  }

  fs::path folder_;
  std::vector<Json> files_;
  std::string class_;
};

// The symbols that the files name, on top of those that the pieces suggest.
std::unique_ptr<Vocabulary> with_settings(const Tokenizer& tokenizer, const Settings& settings) {
  SymbolIds symbols = tokenizer.symbols();
  settings.name_symbols([&](std::string_view piece) { return tokenizer.id_of(piece); }, symbols);
  return std::make_unique<Tokenizer>(tokenizer.with_symbols(symbols));
}

std::unique_ptr<Vocabulary> tokenizer_of(const Json& definition, const fs::path& name, const Settings& settings) {
  return with_settings(
      Tokenizer::from_definition(with_added_tokens(definition, settings.added_tokens()), name.string()), settings);
}

std::unique_ptr<Vocabulary> open_renumbered(const fs::path& path, const Settings& settings) {
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

std::unique_ptr<Vocabulary> open_albert(const fs::path& path, const Settings& settings) {
  const std::string name = path.string();
  const AlbertRules rules{.lower = settings.flag("do_lower_case").value_or(true),
                          .keeps_accents = settings.flag("keep_accents").value_or(false)};
  return tokenizer_of(albert_definition(read_sentencepiece_pieces(read_file(path), name), rules, name), path, settings);
}

std::unique_ptr<Vocabulary> open_sentencepiece(const fs::path& path, const Settings& settings) {
  const std::string kind = settings.tokenizer_class();
  const bool keeps_ids = settings.number("offset") == 0;  // of some PEGASUS
  if (is_renumbered(kind) && !keeps_ids) return open_renumbered(path, settings);
  if (kind == "AlbertTokenizer") return open_albert(path, settings);
  for (const std::string_view other : {"BarthezTokenizer", "XGLMTokenizer", "BigBirdTokenizer"}) {
    HEED_CHECK(kind != other,
               "{}: a tokenizer of the class {} does more than its model says, and heed knows that from tokenizer.json "
               "alone",
               path.string(), kind);
  }
  // Of Llama's and Gemma's, texts begin with a symbol where nothing else is said, and of T5's they end with one.
  const bool begins = kind == "LlamaTokenizer" || kind == "CodeLlamaTokenizer" || kind == "GemmaTokenizer";
  const bool ends = kind == "T5Tokenizer" || kind == "PegasusTokenizer";
  return std::make_unique<SentencePieceTokenizer>(SentencePieceTokenizer::load(
      path, {settings.flag("add_bos_token").value_or(begins), settings.flag("add_eos_token").value_or(ends)}));
}

std::unique_ptr<Vocabulary> open_gpt2(const fs::path& folder, const Settings& settings) {
  const Json pieces = read_json(folder / "vocab.json");
  const Json merges = merges_of(read_file(folder / "merges.txt"), (folder / "merges.txt").string());
  const std::string kind = settings.tokenizer_class();
  const auto is_one_of = [&](std::initializer_list<std::string_view> kinds) {
    return std::ranges::find(kinds, kind) != kinds.end();
  };
  const bool clip = kind == "CLIPTokenizer" || (kind.empty() && pieces.has("<|startoftext|>") && pieces.has("a</w>"));
  const bool roberta = is_one_of({"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "BlenderbotTokenizer",
                                  "LEDTokenizer", "MvpTokenizer"}) ||
                       (kind.empty() && pieces.has("<s>") && pieces.has("</s>"));
  HEED_CHECK(clip || roberta || kind.empty() ||
                 is_one_of({"GPT2Tokenizer", "GPTNeoXTokenizer", "OPTTokenizer", "CodeGenTokenizer"}),
             "{}: vocab.json and merges.txt of a {}, which heed knows from tokenizer.json alone", folder.string(),
             kind);
  std::vector<std::string> tokens = settings.tokens();
  for (const char* usual : {"<|endoftext|>", "<s>", "</s>", "<unk>", "<pad>", "<mask>"}) {
    if (std::ranges::find(tokens, usual) == tokens.end()) tokens.emplace_back(usual);
  }
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
  }
  return tokenizer_of(definition, folder, settings);
}

std::unique_ptr<Vocabulary> open_bert(const fs::path& folder, const Settings& settings) {
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
  const BertRules rules{.lower = lower,
                        .chinese = settings.flag("tokenize_chinese_chars").value_or(true),
                        .strips_accents = settings.flag("strip_accents").value_or(lower),
                        .unknown = settings.token("unk_token", "[UNK]"),
                        .classifier = settings.token("cls_token", "[CLS]"),
                        .separator = settings.token("sep_token", "[SEP]"),
                        .pad = settings.token("pad_token", "[PAD]"),
                        .mask = settings.token("mask_token", "[MASK]")};
  return tokenizer_of(bert_definition(pieces, rules, path.string()), path, settings);
}

}  // namespace

std::unique_ptr<Vocabulary> open_tokenizer(const fs::path& folder, TokenizerSide side) {
  const Settings settings(folder);
  if (const fs::path path = folder / "tokenizer.json"; file_exists(path))
    return with_settings(Tokenizer::load(path), settings);
  if (has_all(folder, kSidesFiles)) {
    return std::make_unique<SentencePieceWords>(SentencePieceWords::load(
        folder / (side == TokenizerSide::source ? "source.spm" : "target.spm"), folder / "vocab.json"));
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
         (has("vocab.json") && has("merges.txt")) || has("vocab.txt") || only_model(folder).has_value();
}

}  // namespace heed
