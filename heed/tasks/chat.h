// How a model that was taught to answer is spoken to.
//
//   const ChatTemplate chat = chat_template_of("Qwen2-0.5B-Instruct");      // or a GGUF file
//   generate(model, questions, {.chat = chat});
#pragma once

#include <filesystem>

#include "heed/text/chat_template.h"

namespace heed {

// The template in a folder, or in the one of a file of weights (ChatTemplate::open), or in a GGUF file or the one that
// the folder has in the place of templates (tokenizer.chat_template). Throws heed::Error where there is none, or it
// is not Jinja that heed reads.
ChatTemplate chat_template_of(const std::filesystem::path& path);

}  // namespace heed
