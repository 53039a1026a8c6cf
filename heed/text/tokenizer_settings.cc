#include "heed/text/tokenizer_settings.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "heed/base/file.h"
#include "heed/text/tokenizer/definitions.h"
#include "heed/text/tokenizer/json_fields.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Of types of models whose tokenizers do more than their files say, or do it otherwise than files of those names do.
constexpr std::pair<std::string_view, std::string_view> kClassesOfModels[] = {{"albert", "AlbertTokenizer"},
                                                                              {"barthez", "BarthezTokenizer"},
                                                                              {"bart", "BartTokenizer"},
                                                                              {"big_bird", "BigBirdTokenizer"},
                                                                              {"blenderbot", "BlenderbotTokenizer"},
                                                                              {"camembert", "CamembertTokenizer"},
                                                                              {"deberta", "DebertaTokenizer"},
                                                                              {"deberta-v2", "DebertaV2Tokenizer"},
                                                                              {"fnet", "FNetTokenizer"},
                                                                              {"gemma", "GemmaTokenizer"},
                                                                              {"gemma2", "GemmaTokenizer"},
                                                                              {"gpt2", "GPT2Tokenizer"},
                                                                              {"gpt_neo", "GPT2Tokenizer"},
                                                                              {"llama", "LlamaTokenizer"},
                                                                              {"m2m_100", "M2M100Tokenizer"},
                                                                              {"mbart", "MBartTokenizer"},
                                                                              {"mistral", "LlamaTokenizer"},
                                                                              {"mpnet", "MPNetTokenizer"},
                                                                              {"mt5", "T5Tokenizer"},
                                                                              {"openai-gpt", "OpenAIGPTTokenizer"},
                                                                              {"opt", "GPT2Tokenizer"},
                                                                              {"pegasus", "PegasusTokenizer"},
                                                                              {"rembert", "RemBertTokenizer"},
                                                                              {"roberta", "RobertaTokenizer"},
                                                                              {"t5", "T5Tokenizer"},
                                                                              {"umt5", "T5Tokenizer"},
                                                                              {"xglm", "XGLMTokenizer"},
                                                                              {"xlm-roberta", "XLMRobertaTokenizer"},
                                                                              {"xlnet", "XLNetTokenizer"}};

// The class that a model's config.json names, or that goes with its type.
std::string class_of_model(const Json& config) {
  if (config.kind() != Json::Kind::object) return {};
  if (is_given(config, "tokenizer_class")) return config["tokenizer_class"].string();
  if (!is_given(config, "model_type")) return {};
  const std::string type = config["model_type"].string();
  const auto* const found = std::ranges::find(kClassesOfModels, type, [](const auto& row) { return row.first; });
  return found == std::end(kClassesOfModels) ? std::string() : std::string(found->second);
}

std::string content_of(const Json& token) {
  return token.kind() == Json::Kind::object ? token["content"].string() : token.string();
}

Index number_of(const std::string& digits, const Json& token) {
  Index number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) token.refuse("must have an id for its key");
  return number;
}

std::vector<Json> values_of(const std::map<Index, Json>& tokens) {
  std::vector<Json> values;
  for (const auto& [id, token] : tokens) values.push_back(token);
  return values;
}

}  // namespace

TokenizerSettings::TokenizerSettings(const fs::path& folder) : folder_(folder) {
  for (const std::string_view name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    if (file_exists(folder / name)) files_.push_back(read_json(folder / name));
  }
  class_ = token("tokenizer_class", "");
  if (class_.empty() && file_exists(folder / "config.json")) class_ = class_of_model(read_json(folder / "config.json"));
  if (class_.ends_with("Fast")) class_.resize(class_.size() - 4);
}

void TokenizerSettings::name_symbols(const FindPiece& find, SymbolIds& symbols) const {
  for (const Json& file : files_) heed::name_symbols(file, find, symbols);
}

std::optional<bool> TokenizerSettings::flag(std::string_view key) const {
  for (const Json& file : files_) {
    if (is_given(file, key)) return file[key].boolean();
  }
  return std::nullopt;
}

std::optional<Index> TokenizerSettings::number(std::string_view key) const {
  for (const Json& file : files_) {
    if (is_given(file, key)) return file[key].integer(0);
  }
  return std::nullopt;
}

std::string TokenizerSettings::token(std::string_view key, std::string_view otherwise) const {
  for (const Json& file : files_) {
    if (is_given(file, key)) return content_of(file[key]);
  }
  return std::string(otherwise);
}

std::vector<Json> TokenizerSettings::added_tokens() const {
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

std::vector<std::string> TokenizerSettings::tokens() const {
  std::vector<std::string> all;
  const auto add = [&](const std::string& one) {
    if (!one.empty() && std::ranges::find(all, one) == all.end()) all.push_back(one);
  };
  for (const char* key : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
    add(token(key, ""));
  }
  for (const Json& file : files_) {
    if (!is_given(file, "additional_special_tokens")) continue;
    for (const Json& one : file["additional_special_tokens"].items()) add(content_of(one));
  }
  return all;
}

}  // namespace heed
