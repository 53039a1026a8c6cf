#include "heed/text/chat_template.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/io/json.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"chatml", "gemma", "llama2", "llama3", "mistral", "phi3", "zephyr"};

// How a template that gives each turn a header writes one: open, the role, behind the role, the content, close.
struct Header {
  std::string_view name;
  std::string_view begin;  // of the text, a special token; or nothing
  std::string_view open, behind_role, close, behind_close;
  bool role_is_token;  // open, the role and behind_role are one token: "<|user|>"
  bool trims;          // white space around the content
};
constexpr std::array<Header, 5> kHeaders = {{
    {"chatml", "", "<|im_start|>", "\n", "<|im_end|>", "\n", false, false},
    {"gemma", "<bos>", "<start_of_turn>", "\n", "<end_of_turn>", "\n", false, true},
    {"llama3", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "", false, true},
    {"phi3", "", "<|", "|>", "<|end|>", "\n", true, false},
    {"zephyr", "", "<|", "|>", "</s>", "\n", true, false},
}};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

void check_roles(std::span<const ChatMessage> messages) {
  HEED_CHECK(!messages.empty() && messages.back().role == "user", "chat: the last message must be the user's");
  const std::size_t first = messages.front().role == "system" ? 1 : 0;
  for (std::size_t i = first; i < messages.size(); ++i) {
    const std::string_view expected = (i - first) % 2 == 0 ? "user" : "assistant";
    HEED_CHECK(messages[i].role == expected, "chat: message {} must be the {}'s, and is of the role '{}'", i + 1,
               expected, printable(messages[i].role));
  }
}

}  // namespace

std::span<const std::string_view> ChatTemplate::names() { return kNames; }

ChatTemplate ChatTemplate::named(std::string_view name) {
  const auto known = std::ranges::find(kNames, name);
  HEED_CHECK(known != kNames.end(), "chat: no template is called '{}': there are {}, {}, {}, {}, {}, {} and {}",
             printable(name), kNames[0], kNames[1], kNames[2], kNames[3], kNames[4], kNames[5], kNames[6]);
  return ChatTemplate(*known);
}

ChatTemplate ChatTemplate::recognised(std::string_view jinja, std::string_view place) {
  const auto has = [&](std::string_view mark) { return jinja.find(mark) != std::string_view::npos; };
  if (has("<|im_start|>")) {
    ChatTemplate chat("chatml");
    // Qwen's: the longer one holds the shorter.
    for (const char* system :
         {"You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", "You are a helpful assistant."}) {
      if (chat.default_system_.empty() && has(system)) chat.default_system_ = system;
    }
    return chat;
  }
  if (has("<|start_header_id|>")) return ChatTemplate("llama3");
  if (has("<start_of_turn>")) return ChatTemplate("gemma");
  if (has("[INST]")) {
    if (has("<<SYS>>")) return ChatTemplate("llama2");
    ChatTemplate chat("mistral");
    chat.tight_ = !has(" [/INST]");
    return chat;
  }
  if (has("<|user|>") || has("'<|' + message['role'] + '|>'")) return ChatTemplate(has("<|end|>") ? "phi3" : "zephyr");
  fail("{}: the template is none of those that heed knows: '{}'", place, printable(jinja));
}

ChatTemplate ChatTemplate::open(const std::filesystem::path& folder) {
  const std::filesystem::path jinja = folder / "chat_template.jinja", config = folder / "tokenizer_config.json";
  if (file_exists(jinja)) return recognised(read_file(jinja), jinja.string());
  HEED_CHECK(file_exists(config), "{}: has neither chat_template.jinja nor tokenizer_config.json", folder.string());
  const Json json = read_json(config);
  HEED_CHECK(json.has("chat_template"), "{}: has no chat_template", config.string());
  const Json given = json["chat_template"];
  if (given.kind() != Json::Kind::array) return recognised(given.string(), given.where());
  for (const Json& one : given.items()) {  // several, by name
    if (one["name"].string() == "default") return recognised(one["template"].string(), one.where());
  }
  given.refuse("must hold a template called default");
}

std::string ChatTemplate::text(std::span<const ChatMessage> messages) const {
  std::string all;
  for (const Part& part : parts(messages)) all += part.text;
  return all;
}

std::vector<int> ChatTemplate::encode(const Vocabulary& vocabulary, std::span<const ChatMessage> messages) const {
  std::vector<int> ids;
  std::string waiting;  // text since the last token, which is encoded as one
  const auto encode_waiting = [&] {
    const std::vector<int> more = vocabulary.encode(waiting);
    ids.insert(ids.end(), more.begin(), more.end());
    waiting.clear();
  };
  for (const Part& part : parts(messages)) {
    const int id = part.special ? vocabulary.id_of(part.text) : -1;
    if (id < 0) {
      waiting += part.text;
      continue;
    }
    encode_waiting();
    ids.push_back(id);
  }
  encode_waiting();
  return ids;
}

std::vector<ChatTemplate::Part> ChatTemplate::parts(std::span<const ChatMessage> messages) const {
  check_roles(messages);
  std::vector<Part> written;
  if (name_ == "llama2" || name_ == "mistral") {
    add_instructions(messages, written);
  } else {
    add_turns_with_header(messages, written);
  }
  return written;
}

void ChatTemplate::add_turns_with_header(std::span<const ChatMessage> messages, std::vector<Part>& parts) const {
  const Header& header = *std::ranges::find(kHeaders, name_, &Header::name);
  const bool gemma = name_ == "gemma";
  const auto open = [&](std::string_view role) {
    if (gemma && role == "assistant") role = "model";
    if (header.role_is_token) {
      parts.push_back({fmt::format("{}{}{}", header.open, role, header.behind_role), true});
      parts.push_back({"\n", false});
      return;
    }
    parts.push_back({std::string(header.open), true});
    parts.push_back({std::string(role), false});
    const bool is_token = header.behind_role.starts_with('<');
    parts.push_back({std::string(header.behind_role), is_token});
    if (is_token) parts.push_back({"\n\n", false});
  };
  const auto turn = [&](std::string_view role, std::string_view content) {
    open(role);
    parts.push_back({std::string(header.trims ? trimmed(content) : content), false});
    parts.push_back({std::string(header.close), true});
    parts.push_back({std::string(header.behind_close), false});
  };
  parts.push_back({std::string(header.begin), true});
  const bool has_system = messages.front().role == "system";
  if (!has_system && !default_system_.empty()) turn("system", default_system_);
  std::string before;  // Gemma has no system: it stands before what the user says first
  for (const ChatMessage& message : messages) {
    if (gemma && message.role == "system") {
      before = std::string(trimmed(message.content)) + "\n\n";
      continue;
    }
    turn(message.role, before + message.content);
    before.clear();
  }
  open("assistant");
}

// "[INST] what the user says [/INST]", and then what was answered.
void ChatTemplate::add_instructions(std::span<const ChatMessage> messages, std::vector<Part>& parts) const {
  const bool llama = name_ == "llama2";
  std::string before;
  parts.push_back({"<s>", true});
  bool ended = false;
  for (const ChatMessage& message : messages) {
    const std::string content(llama ? trimmed(message.content) : std::string_view(message.content));
    if (message.role == "system") {
      before = llama ? "<<SYS>>\n" + content + "\n<</SYS>>\n\n" : content + "\n\n";
    } else if (message.role == "user") {
      if (llama && ended) parts.push_back({"<s>", true});
      // Of newer Mistral models these are tokens; to others' vocabularies they are text.
      parts.push_back({"[INST]", !llama});
      parts.push_back({" " + before + content + (tight_ ? "" : " "), false});
      parts.push_back({"[/INST]", !llama});
      before.clear();
    } else {
      parts.push_back({llama ? " " + content + " " : (tight_ ? " " : "") + content, false});
      parts.push_back({"</s>", true});
      ended = true;
    }
  }
}

}  // namespace heed
