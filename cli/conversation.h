// A talk with a model that was taught to answer, on standard input and output.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/tasks/chat.h"
#include "heed/tasks/generate.h"

namespace heed::cli {

// With whom and how.
struct Conversation {
  const ModelFolder& folder;
  ChatTemplate chat;
  ChatSetting setting;
  std::string system;  // what the model is told before; empty: nothing

  // What the model reads before it answers what was said since.
  std::vector<int> prompt(std::vector<ChatMessage> talk) const;
};

// Each line of standard input, but an empty one, is what the user says next, until there are no more; the answer, which
// knows all that was said before, is printed as it comes, or else given to `answered` once it is whole. On a terminal a
// line is asked for. Throws heed::Error as chat_prompt and GrowingText do.
void converse(const Conversation& conversation, const GenerateOptions& options,
              const std::function<void(const Generated&, std::size_t turn)>& answered);

}  // namespace heed::cli
