#include "heed/text/chat_template.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/printable.h"
#include "heed/base/replace_all.h"
#include "heed/io/json.h"

namespace heed {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
constexpr std::array<std::string_view, 8> kNames = {"chatml", "deepseek", "gemma", "llama2",
                                                    "llama3", "mistral",  "phi3",  "zephyr"};

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

// A Jinja text in which marks can be looked for, however it is written: within its tags no space but in literals, those
// in single quotes, their ends of lines as such, and sums of them as one; a message's content is "content".
std::string plain_jinja(std::string_view jinja) {
  std::string plain;
  bool in_tag = false;
  char quote = 0;
  for (std::size_t at = 0; at < jinja.size(); ++at) {
    const char c = jinja[at];
    const char next = at + 1 < jinja.size() ? jinja[at + 1] : '\0';
    if (!in_tag) {
      in_tag = c == '{' && (next == '{' || next == '%');
      plain += c;
    } else if (quote != 0) {
      if (c == '\\' && next != '\0') {
        plain += next == 'n' ? '\n' : next;
        ++at;
      } else if (c == quote) {
        plain += '\'';
        quote = 0;
      } else {
        plain += c;
      }
    } else if (c == '\'' || c == '"') {
      plain += '\'';
      quote = c;
    } else if (kWhiteSpace.find(c) == std::string_view::npos) {
      in_tag = !((c == '}' || c == '%') && next == '}');
      plain += c;
    }
  }
  plain = replace_all(std::move(plain), "'+'", "");
  plain = replace_all(std::move(plain), "message['content']", "content");
  return replace_all(std::move(plain), "message.content", "content");
}

// What a literal has between two marks; nothing where no literal holds both.
std::string text_between(std::string_view plain, std::string_view begin, std::string_view end) {
  for (std::size_t from = 0;;) {
    const std::size_t first = plain.find(begin, from);
    if (first == std::string_view::npos) return {};
    const std::size_t last = plain.find(end, first + begin.size());
    if (last == std::string_view::npos) return {};
    const std::size_t at = plain.rfind(begin, last) + begin.size();  // of several, the nearest
    const std::string_view text = plain.substr(at, last - at);
    if (text.find("'+") == text.npos && text.find("'}") == text.npos && text.find("'-}") == text.npos)
      return std::string(text);
    from = last;
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kWhiteSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

// What an answer says behind what its model thought; all of it where it holds no thought.
std::string_view behind_thought(std::string_view answer) {
  constexpr std::string_view kEnd = "</think>";
  const std::size_t end = answer.rfind(kEnd);
  return end == answer.npos ? answer : answer.substr(end + kEnd.size());
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
  HEED_CHECK(known != kNames.end(), "chat: no template is called '{}': there are {}", printable(name),
             fmt::join(kNames, ", "));
  return ChatTemplate(*known);
}

ChatTemplate ChatTemplate::recognised(std::string_view jinja, std::string_view place, ChatSymbols symbols) {
  const std::string plain = plain_jinja(jinja);
  const auto has = [&](std::string_view mark) { return plain.find(mark) != std::string_view::npos; };
  const auto known = [&](std::string_view name) {
    ChatTemplate chat(name);
    chat.symbols_ = std::move(symbols);
    chat.begins_ = has("{{bos_token") || has("{{-bos_token");
    return chat;
  };
  if (has("<|im_start|>") && !has("<|im_sep|>")) {
    ChatTemplate chat = known("chatml");
    chat.default_system_ = text_between(plain, "<|im_start|>system\n", "<|im_end|>");
    chat.forgets_thoughts_ = has("content.split('</think>')[-1].lstrip('\n')");
    return chat;
  }
  if (has("'<｜User｜>'+content") && has("'<｜Assistant｜>'+content")) {
    ChatTemplate chat = known("deepseek");
    chat.thinks_ = has("<｜Assistant｜><think>\n'");
    chat.forgets_thoughts_ = has("content.split('</think>')[-1]");
    return chat;
  }
  if (has("<|start_header_id|>")) {
    ChatTemplate chat = known("llama3");
    // The date is the one that the template has where nobody gives another.
    if (has("Cutting Knowledge Date: December 2023"))
      chat.preamble_ = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
    return chat;
  }
  if (has("<start_of_turn>")) return known("gemma");
  if (has("[INST]") && !has("[SYSTEM_PROMPT]")) {
    if (has("<<SYS>>")) return known("llama2");
    ChatTemplate chat = known("mistral");
    chat.instruction_ = instruction_of(plain);
    return chat;
  }
  // Other models have such headers too, and end a turn in other ways.
  const bool by_role = has("'<|'+message['role']+'|>\n'+content");
  if ((by_role || has("'<|user|>\n'+content")) && has("+'<|end|>")) return known("phi3");
  if (has("'<|user|>\n'+content+eos_token") || has("'<|user|>\n'+content+'</s>")) return known("zephyr");
  fail("{}: the template is none of those that heed knows: '{}'", place, printable(jinja));
}

ChatTemplate::Instruction ChatTemplate::instruction_of(std::string_view jinja) {
  const auto has = [&](std::string_view mark) { return jinja.find(mark) != std::string_view::npos; };
  return {.before = has("' [INST]") ? " " : "",
          .behind = has("[INST] ") ? " " : "",
          .end = has(" [/INST]") ? " " : "",
          .answer = has("' '+content") ? " " : "",
          .trims_answer = has("content|trim+eos_token"),
          .behind_answer = has("eos_token+' '") ? " " : "",
          .system_is_last = has("loop.lastandsystem_message")};
}

ChatTemplate ChatTemplate::open(const std::filesystem::path& folder) {
  const std::filesystem::path jinja = folder / "chat_template.jinja", config = folder / "tokenizer_config.json";
  const Json json = file_exists(config) ? read_json(config) : Json();
  ChatSymbols symbols;
  const auto name = [&](std::string_view key, std::string& symbol) {
    if (json.is_null() || !json.has(key) || json[key].is_null()) return;
    symbol = json[key].kind() == Json::Kind::object ? json[key]["content"].string() : json[key].string();
  };
  name("bos_token", symbols.begin);
  name("eos_token", symbols.end);
  if (file_exists(jinja)) return recognised(read_file(jinja), jinja.string(), symbols);
  HEED_CHECK(!json.is_null(), "{}: has neither chat_template.jinja nor tokenizer_config.json", folder.string());
  HEED_CHECK(json.has("chat_template"), "{}: has no chat_template", config.string());
  const Json given = json["chat_template"];
  if (given.kind() != Json::Kind::array) return recognised(given.string(), given.where(), symbols);
  for (const Json& one : given.items()) {  // several, by name
    if (one["name"].string() == "default") return recognised(one["template"].string(), one.where(), symbols);
  }
  given.refuse("must hold a template called default");
}

std::string ChatTemplate::text(std::span<const ChatMessage> messages) const {
  std::string all;
  for (const Part& part : parts(messages)) all += part.text;
  return all;
}

std::vector<int> ChatTemplate::encode(const Vocabulary& vocabulary, std::span<const ChatMessage> messages) const {
  // Its tokens may take space around them along, and text behind one may be cut as none that begins.
  if (vocabulary.kind() == "tokenizer") return vocabulary.encode(text(messages));
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
  } else if (name_ == "deepseek") {
    add_marked_turns(messages, written);
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
  const auto turn = [&](std::string_view role, std::string_view before, std::string_view content) {
    open(role);
    parts.push_back({fmt::format("{}{}", before, header.trims ? trimmed(content) : content), false});
    parts.push_back({header.close == "</s>" ? symbols_.end : std::string(header.close), true});
    parts.push_back({std::string(header.behind_close), false});
  };
  parts.push_back({begins_ && header.begin.empty() ? symbols_.begin : std::string(header.begin), true});
  const bool has_system = messages.front().role == "system";
  if (!has_system && !(default_system_.empty() && preamble_.empty())) turn("system", preamble_, default_system_);
  std::string before;  // Gemma has no system: it stands before what the user says first
  for (const ChatMessage& message : messages) {
    if (gemma && message.role == "system") {
      before = message.content + "\n\n";
      continue;
    }
    std::string_view content = message.content;
    if (forgets_thoughts_ && message.role == "assistant") {
      content = behind_thought(content);
      content.remove_prefix(std::min(content.find_first_not_of('\n'), content.size()));
    }
    turn(message.role, message.role == "system" ? preamble_ : before, content);
    before.clear();
  }
  open("assistant");
}

// A token before each turn, and one behind an answer; the system message has none.
void ChatTemplate::add_marked_turns(std::span<const ChatMessage> messages, std::vector<Part>& parts) const {
  constexpr std::string_view kBegin = "<｜begin▁of▁sentence｜>", kEnd = "<｜end▁of▁sentence｜>", kUser = "<｜User｜>",
                             kAssistant = "<｜Assistant｜>";
  parts.push_back({std::string(kBegin), true});
  for (const ChatMessage& message : messages) {
    const bool answers = message.role == "assistant";
    const std::string_view content =
        answers && forgets_thoughts_ ? behind_thought(message.content) : std::string_view(message.content);
    if (message.role != "system") parts.push_back({std::string(answers ? kAssistant : kUser), true});
    parts.push_back({std::string(content), false});
    if (answers) parts.push_back({std::string(kEnd), true});
  }
  parts.push_back({std::string(kAssistant), true});
  if (!thinks_) return;
  parts.push_back({"<think>", true});
  parts.push_back({"\n", false});
}

// "[INST] what the user says [/INST]", and then what was answered. Of newer Mistral models these are tokens; to others'
// vocabularies they are text.
void ChatTemplate::add_instructions(std::span<const ChatMessage> messages, std::vector<Part>& parts) const {
  const bool llama = name_ == "llama2";
  const bool has_system = messages.front().role == "system";
  const auto& system = messages.front().content;
  const std::size_t first = has_system ? 1 : 0;
  const std::size_t with_system = instruction_.system_is_last ? messages.size() - 1 : first;
  parts.push_back({symbols_.begin, true});
  for (std::size_t i = first; i < messages.size(); ++i) {
    std::string content = messages[i].content;
    if (messages[i].role == "user") {
      if (has_system && i == with_system)
        content = llama ? "<<SYS>>\n" + system + "\n<</SYS>>\n\n" + content : system + "\n\n" + content;
      if (llama) content = trimmed(content);
      if (llama && i > first) parts.push_back({symbols_.begin, true});
      parts.push_back({std::string(instruction_.before), false});
      parts.push_back({"[INST]", !llama});
      parts.push_back({fmt::format("{}{}{}", instruction_.behind, content, instruction_.end), false});
      parts.push_back({"[/INST]", !llama});
    } else {
      if (llama || instruction_.trims_answer) content = trimmed(content);
      parts.push_back({llama ? " " + content + " " : fmt::format("{}{}", instruction_.answer, content), false});
      parts.push_back({symbols_.end, true});
      parts.push_back({std::string(instruction_.behind_answer), false});
    }
  }
}

}  // namespace heed
