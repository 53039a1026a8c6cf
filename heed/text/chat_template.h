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

// One of the common templates. They are known by name, and by what stands in the Jinja text that comes with a model;
// that text is not interpreted.
class ChatTemplate {
 public:
  // chatml (Qwen and many others), gemma, llama2, llama3, mistral, phi3, zephyr.
  static std::span<const std::string_view> names();
  // Throws heed::Error for any other name.
  static ChatTemplate named(std::string_view name);
  // By the marks in a Jinja template. Throws heed::Error that names it `place` where it has those of none.
  static ChatTemplate recognised(std::string_view jinja, std::string_view place);
  // By chat_template.jinja or tokenizer_config.json in a model's folder. Throws heed::Error where there is neither, or
  // the latter has no template, or one that is not recognised.
  static ChatTemplate open(const std::filesystem::path& folder);

  std::string_view name() const { return name_; }

  // The text of the messages and what begins the assistant's answer; with its special tokens spelled, the one that
  // begins every text included. Throws heed::Error where roles do not come in turn, or the last is not the user's.
  std::string text(std::span<const ChatMessage> messages) const;
  // The ids of that text: special tokens have those of vocabulary.id_of, where it knows them.
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
  void add_instructions(std::span<const ChatMessage> messages, std::vector<Part>& parts) const;

  std::string_view name_;            // of names()
  std::string default_system_ = {};  // what stands first where there is no system message
  bool tight_ = false;               // of mistral: no space before "[/INST]", and one before the answer
};

}  // namespace heed
