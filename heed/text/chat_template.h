// How a conversation becomes one text, as the model that is to answer was taught it.
//
//   const auto chat = ChatTemplate::open("Qwen2-0.5B-Instruct");          // by its folder; or ChatTemplate::named
//   const std::vector<ChatMessage> talk = {{"user", "What is attention?"}};
//   std::vector<int> prompt = chat.encode(*vocabulary, talk);             // ends where the answer begins
//   chat.text(talk, {.names = Json::parse("{\"enable_thinking\": false}")});   // the same to look at
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/vocabulary.h"

namespace heed {

namespace jinja {
class Template;
}

struct ChatMessage {
  std::string role;  // "system", "user", "assistant", or what else a template knows
  std::string content;
};

// What one who asks may tell a template beside the messages.
struct ChatSetting {
  // What strftime_now says, for templates that write the day. Nothing: there is no such function, so that the same
  // conversation is the same text on every day. Templates that ask whether there is write the date that they have for
  // where there is none, and those that do not ask are refused.
  std::optional<std::chrono::year_month_day> today{};
  // Names that the template knows, and what they are: enable_thinking, tools, documents.
  Json names = Json::object();
};

// What templates call bos_token, eos_token, pad_token and so on, by these names.
using ChatSymbols = std::map<std::string, std::string>;

// A template in Jinja, as it comes with a model, or one of the common ones by name. It is carried out as Hugging Face's
// apply_chat_template(messages, add_generation_prompt=True) does. It may go on for so long only, and say so much
// (heed/text/jinja/run.h): a template is a program in a file that nobody has looked at.
class ChatTemplate {
 public:
  // chatml (Qwen and many others), deepseek (R1 and what was distilled from it), gemma, llama2, llama3, mistral, phi3,
  // zephyr.
  static std::span<const std::string_view> names();
  // Throws heed::Error for any other name.
  static ChatTemplate named(std::string_view name);
  // Throws heed::Error that names `place` and the line where it is no template.
  static ChatTemplate from_jinja(std::string_view jinja, std::string_view place,
                                 ChatSymbols symbols = {{"bos_token", "<s>"}, {"eos_token", "</s>"}});
  // By chat_template.jinja or tokenizer_config.json in a model's folder, with every key of the latter that ends in
  // "_token", or of special_tokens_map.json, or else what the class of its tokenizer has for it. Throws heed::Error
  // where there is neither, or the latter has no template, or one that is none.
  static ChatTemplate open(const std::filesystem::path& folder);

  // The text of the messages and what begins the assistant's answer; with its special tokens spelled, the one that
  // begins every text included. Throws heed::Error that names the template's line for what it refuses, which mostly is
  // roles that do not come in turn, and for what it asks that heed does not know; and for messages that are not UTF-8,
  // a day that is none, and names that are no object or have one that is taken (messages, add_generation_prompt).
  // Those that are known by name take one message of the system or none, then the user's and the assistant's in turn,
  // the user's last.
  std::string text(std::span<const ChatMessage> messages, const ChatSetting& setting = {}) const;
  // The ids of that text, in which a special token that is spelled is the token, whoever spelled it, as for Hugging
  // Face's tokenizers: also where a message says "</s>", so who hands on what strangers say takes that out before. Of a
  // vocabulary that takes tokens that a text spells for text, what lies between them is encoded by itself.
  std::vector<int> encode(const Vocabulary& vocabulary, std::span<const ChatMessage> messages,
                          const ChatSetting& setting = {}) const;

 private:
  ChatTemplate(std::shared_ptr<const jinja::Template> jinja, ChatSymbols symbols)
      : jinja_(std::move(jinja)), symbols_(std::move(symbols)) {}

  std::shared_ptr<const jinja::Template> jinja_;
  ChatSymbols symbols_;
};

}  // namespace heed
