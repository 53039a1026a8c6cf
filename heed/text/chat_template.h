// How a conversation becomes one text, as the model that is to answer was taught it.
//
//   const auto chat = ChatTemplate::open("Qwen2-0.5B-Instruct");          // by its folder; or ChatTemplate::named
//   const std::vector<ChatMessage> talk = {{"user", "What is attention?"}};
//   std::vector<int> prompt = chat.encode(*vocabulary, talk);             // ends where the answer begins
//   chat.text(talk);                                                      // the same to look at
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed {

struct ChatMessage {
  std::string role;  // "system" (the first, or none), then "user" and "assistant" in turn
  std::string content;
};

// What templates call bos_token and eos_token.
struct ChatSymbols {
  std::string begin = "<s>", end = "</s>";
};

// One of the common templates. They are known by name, and by what stands in the Jinja text that comes with a model;
// that text is not interpreted, but what models of one kind do differently is read from it: the system message that
// stands in where there is none, what Llama 3.1 says of dates, where Mistral's have spaces, and whether
// DeepSeek's begin with a thought.
class ChatTemplate {
 public:
  // chatml (Qwen and many others), deepseek (R1 and what was distilled from it), gemma, llama2, llama3, mistral, phi3,
  // zephyr.
  static std::span<const std::string_view> names();
  // Throws heed::Error for any other name.
  static ChatTemplate named(std::string_view name);
  // By the marks in a Jinja template. Throws heed::Error that names it `place` where it has those of none.
  static ChatTemplate recognised(std::string_view jinja, std::string_view place, ChatSymbols symbols = {});
  // By chat_template.jinja or tokenizer_config.json in a model's folder, with the symbols that the latter names. Throws
  // heed::Error where there is neither, or the latter has no template, or one that is not recognised.
  static ChatTemplate open(const std::filesystem::path& folder);

  std::string_view name() const { return name_; }

  // The text of the messages and what begins the assistant's answer; with its special tokens spelled, the one that
  // begins every text included. Throws heed::Error where roles do not come in turn, or the last is not the user's.
  std::string text(std::span<const ChatMessage> messages) const;
  // The ids of that text. Of a vocabulary that takes tokens that a text spells for text, they are those of
  // vocabulary.id_of, where it knows them.
  std::vector<int> encode(const Vocabulary& vocabulary, std::span<const ChatMessage> messages) const;

 private:
  // A part that is one special token, or text between two.
  struct Part {
    std::string text;
    bool special;
  };

  explicit ChatTemplate(std::string_view name) : name_(name) {}
  std::vector<Part> parts(std::span<const ChatMessage> messages) const;
  void add_turns_with_header(std::span<const ChatMessage> messages, std::vector<Part>& parts) const;
  void add_marked_turns(std::span<const ChatMessage> messages, std::vector<Part>& parts) const;
  void add_instructions(std::span<const ChatMessage> messages, std::vector<Part>& parts) const;

  // How Mistral's models, of which each has another, write a turn.
  struct Instruction {
    std::string_view before = "";         // "[INST]"
    std::string_view behind = " ";        // it
    std::string_view end = " ";           // before "[/INST]"
    std::string_view answer = "";         // before what was answered
    bool trims_answer = false;            // white space around it
    std::string_view behind_answer = "";  // after its "</s>"
    bool system_is_last = false;          // the system message stands in the last turn of the user, not in the first
  };
  static Instruction instruction_of(std::string_view jinja);

  std::string_view name_;  // of names()
  ChatSymbols symbols_ = {};
  bool begins_ = false;              // with the begin symbol, which other models of its kind do not
  std::string default_system_ = {};  // what stands first where there is no system message
  std::string_view preamble_ = {};   // of llama3: what the system's turn begins with, which there is always then
  Instruction instruction_ = {};     // of mistral
  bool thinks_ = false;              // of deepseek: an answer begins with a thought
  bool forgets_thoughts_ = name_ == "deepseek";  // what was thought for earlier answers is left out
};

}  // namespace heed
