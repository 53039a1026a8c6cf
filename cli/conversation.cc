#include "conversation.h"

#include <fmt/core.h>
#include <unistd.h>

#include "heed/base/text_lines.h"
#include "output.h"
#include "text_stream.h"

namespace heed::cli {

std::vector<int> Conversation::prompt(std::vector<ChatMessage> talk) const {
  if (!system.empty()) talk.insert(talk.begin(), {"system", system});
  return chat_prompt(folder, chat, talk, setting);
}

void converse(const Conversation& conversation, const GenerateOptions& options,
              const std::function<void(const Generated&, std::size_t turn)>& answered) {
  std::vector<ChatMessage> talk;
  GrowingText text(conversation.folder);
  const bool asks = ::isatty(STDIN_FILENO) != 0 && error_is_terminal();
  TextLineReader lines("-");
  std::size_t turn = 0;
  while (true) {
    if (asks) print_progress("> ");
    const std::vector<std::string> said = lines.read(1);
    if (said.empty()) break;
    if (said[0].empty()) continue;
    talk.push_back({"user", said[0]});
    const std::vector<int> prompt = conversation.prompt(talk);
    TextStream stream;
    std::function<void(const GeneratedPart&)> on_part;
    if (!answered) on_part = [&](const GeneratedPart& part) { stream.show(part); };
    const std::string name = fmt::format("turn {}: prompt", ++turn);
    const Generated answer = text.go_on(prompt, options, on_part, name);
    if (answered) answered(answer, turn);
    talk.push_back({"assistant", answer.text});
  }
  if (asks) print_progress("\n");
}

}  // namespace heed::cli
