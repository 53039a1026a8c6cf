#include "heed/text/chat_template.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja/date.h"
#include "heed/text/jinja/json_value.h"
#include "heed/text/jinja/template.h"
#include "heed/text/named_chat_templates.h"
#include "heed/text/tokenizer_settings.h"

namespace heed {
namespace {

constexpr auto kNamesOfChatTemplates = [] {
  std::array<std::string_view, kNamedChatTemplates.size()> names;
  std::ranges::transform(kNamedChatTemplates, names.begin(), &NamedChatTemplate::name);
  return names;
}();

// What tokenizers of a class call their symbols where no file does.
struct SymbolsOfClass {
  std::string_view tokenizer;  // empty: where no class is known
  std::string_view begin, end, unknown, pad;
};
constexpr std::array<SymbolsOfClass, 6> kSymbolsOfClasses = {{
    {"", "<s>", "</s>", "", ""},
    {"LlamaTokenizer", "<s>", "</s>", "<unk>", ""},
    {"CodeLlamaTokenizer", "<s>", "</s>", "<unk>", ""},
    {"GemmaTokenizer", "<bos>", "<eos>", "<unk>", "<pad>"},
    {"GPT2Tokenizer", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", ""},
    {"Qwen2Tokenizer", "", "<|endoftext|>", "<|endoftext|>", "<|endoftext|>"},
}};

ChatSymbols symbols_of_class(std::string_view tokenizer) {
  ChatSymbols symbols;
  const auto* const known = std::ranges::find(kSymbolsOfClasses, tokenizer, &SymbolsOfClass::tokenizer);
  if (known == kSymbolsOfClasses.end()) return symbols;
  for (const auto& [key, symbol] : {std::pair("bos_token", known->begin),
                                    {"eos_token", known->end},
                                    {"unk_token", known->unknown},
                                    {"pad_token", known->pad}}) {
    if (!symbol.empty()) symbols.emplace(key, symbol);
  }
  return symbols;
}

// Those that a file names; one that is null is none, whatever others say.
void name_chat_symbols(const Json& file, ChatSymbols& symbols) {
  if (file.kind() != Json::Kind::object) return;
  for (const auto& [key, value] : file.members()) {
    if (!key.ends_with("_token")) continue;
    if (value.is_null()) {
      symbols.erase(key);
    } else if (value.kind() == Json::Kind::string) {
      symbols[key] = value.string();
    } else if (value.kind() == Json::Kind::object && value.has("content")) {
      symbols[key] = value["content"].string();
    }
  }
}

void check_message(std::string_view what, std::string_view text) {
  HEED_CHECK(valid_utf8(text), "chat: {} is not UTF-8: '{}'", what, printable(text));
}

void check_setting(const ChatSetting& setting) {
  HEED_CHECK(!setting.today || setting.today->ok(), "chat: today is no day of the calendar");
  HEED_CHECK(setting.names.kind() == Json::Kind::object, "chat: the template's names must be an object, but are {}",
             printable(setting.names.dump()));
  for (const auto& [name, value] : setting.names.members()) {
    HEED_CHECK(name != "messages" && name != "add_generation_prompt", "chat: '{}' is not the asker's to set", name);
  }
}

// The vocabulary's special tokens, the longer before the shorter.
std::vector<std::pair<std::string, int>> special_pieces(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string, int>> pieces;
  for (int id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.is_special(id)) continue;
    std::string piece = vocabulary.piece(id);
    if (!piece.empty()) pieces.emplace_back(std::move(piece), id);
  }
  std::ranges::stable_sort(pieces, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return pieces;
}

}  // namespace

std::span<const std::string_view> ChatTemplate::names() { return kNamesOfChatTemplates; }

ChatTemplate ChatTemplate::named(std::string_view name) {
  const auto* const known = std::ranges::find(kNamedChatTemplates, name, &NamedChatTemplate::name);
  HEED_CHECK(known != kNamedChatTemplates.end(), "chat: no template is called '{}': there are {}", printable(name),
             fmt::join(kNamesOfChatTemplates, ", "));
  return from_jinja(std::string(kRolesInTurn).append(known->jinja), fmt::format("the template '{}'", name));
}

ChatTemplate ChatTemplate::from_jinja(std::string_view jinja, std::string_view place, ChatSymbols symbols) {
  return {std::make_shared<const jinja::Template>(jinja, std::string(place)), std::move(symbols)};
}

ChatTemplate ChatTemplate::open(const std::filesystem::path& folder) {
  const std::filesystem::path jinja = folder / "chat_template.jinja", config = folder / "tokenizer_config.json";
  ChatSymbols symbols = symbols_of_class(TokenizerSettings(folder).tokenizer_class());
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    if (file_exists(folder / name)) name_chat_symbols(read_json(folder / name), symbols);
  }
  if (file_exists(jinja)) return from_jinja(read_file(jinja), jinja.string(), std::move(symbols));
  HEED_CHECK(file_exists(config), "{}: has neither chat_template.jinja nor tokenizer_config.json", folder.string());
  const Json json = read_json(config);
  HEED_CHECK(json.has("chat_template"), "{}: has no chat_template", config.string());
  const Json given = json["chat_template"];
  if (given.kind() != Json::Kind::array) return from_jinja(given.string(), given.where(), std::move(symbols));
  for (const Json& one : given.items()) {  // several, by name
    if (one["name"].string() == "default") return from_jinja(one["template"].string(), one.where(), std::move(symbols));
  }
  given.refuse("must hold a template called default");
}

std::string ChatTemplate::text(std::span<const ChatMessage> messages, const ChatSetting& setting) const {
  for (const auto& [key, symbol] : symbols_) check_message(key, symbol);
  for (const ChatMessage& message : messages) {
    check_message("a role", message.role);
    check_message("a message", message.content);
  }
  check_setting(setting);
  return jinja_->render([&](jinja::Run& run) {
    using jinja::Value;
    std::vector<Value> talk;
    for (const ChatMessage& message : messages) {
      talk.push_back(
          Value::dict(run, {{Value("role"), Value(message.role)}, {Value("content"), Value(message.content)}}));
    }
    jinja::Template::Names names = {{"tools", Value(jinja::None{})}, {"documents", Value(jinja::None{})}};
    for (const auto& [key, symbol] : symbols_) names.emplace_back(key, Value(symbol));
    for (const auto& [name, value] : setting.names.members()) names.emplace_back(name, jinja::value_of(run, value));
    names.emplace_back("messages", Value::list(run, std::move(talk)));
    names.emplace_back("add_generation_prompt", Value(true));
    if (setting.today) names.emplace_back("strftime_now", jinja::strftime_now(run, *setting.today));
    return names;
  });
}

std::vector<int> ChatTemplate::encode(const Vocabulary& vocabulary, std::span<const ChatMessage> messages,
                                      const ChatSetting& setting) const {
  const std::string all = text(messages, setting);
  // Its tokens may take space around them along, and text behind one may be cut as none that begins.
  if (vocabulary.kind() == "tokenizer") return vocabulary.encode(all);
  const std::vector<std::pair<std::string, int>> pieces = special_pieces(vocabulary);
  std::vector<int> ids;
  std::size_t encoded = 0;
  const auto encode_up_to = [&](std::size_t end) {
    const std::vector<int> more = vocabulary.encode(std::string_view(all).substr(encoded, end - encoded));
    ids.insert(ids.end(), more.begin(), more.end());
  };
  for (std::size_t at = 0; at < all.size();) {
    const std::string_view rest = std::string_view(all).substr(at);
    const auto piece = std::ranges::find_if(pieces, [&](const auto& one) { return rest.starts_with(one.first); });
    if (piece == pieces.end()) {
      ++at;
      continue;
    }
    encode_up_to(at);
    ids.push_back(piece->second);
    at += piece->first.size();
    encoded = at;
  }
  encode_up_to(all.size());
  return ids;
}

}  // namespace heed
