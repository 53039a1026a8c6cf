// How a model that was taught to answer is spoken to.
//
//   const ChatTemplate chat = chat_template_of("Qwen2-0.5B-Instruct");      // or a GGUF file
//   const std::vector<ChatMessage> talk = {{"user", "What is attention?"}};
//   const std::vector<std::vector<int>> prompts = {chat_prompt(model, chat, talk)};
//   generate_behind(model, prompts, {})[0].text;                             // the answer
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "heed/tasks/model_folder.h"
#include "heed/text/chat_template.h"

namespace heed {

// The template in a folder, or in the one of a file of weights (ChatTemplate::open), or in a GGUF file or the one that
// the folder has in the place of templates (tokenizer.chat_template). Throws heed::Error where there is none, or it
// is not Jinja that heed reads.
ChatTemplate chat_template_of(const std::filesystem::path& path);

// What the model reads before it answers. Throws heed::Error as ChatTemplate::encode does, and for a model that
// continues no text.
std::vector<int> chat_prompt(const ModelFolder& folder, const ChatTemplate& chat, std::span<const ChatMessage> messages,
                             const ChatSetting& setting = {});

}  // namespace heed
