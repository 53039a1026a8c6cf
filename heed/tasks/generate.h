// Text that a language model continues, as it comes.
//
//   ModelFolder model = load_model_folder("model");
//   generate(model, prompts, {.max_tokens = 50, .sampling = {.temperature = 0.8}},
//            [](const GeneratedPart& part) { print(part.prompt, part.text); });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/progress.h"
#include "heed/decode/sampling.h"
#include "heed/decode/session.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/stop_texts.h"

namespace heed {

struct GenerateOptions {
  SamplingOptions sampling{};
  Precision cache = Precision::f32;
  Index max_tokens = 100;  // of a continuation; at most what the model can hold behind its prompt
  Index rows = 32;         // prompts that are continued at once
  // Texts at the first of which a continuation ends, without it. Those in a prompt end nothing.
  StopTexts stop = {};

  template <typename V>
  friend void visit_fields(GenerateOptions& o, V&& visit) {
    visit(
        "cache", o.cache,
        "What is kept of each token read, keys and values: f32, or bf16, f16 or int8, which take less memory and time "
        "and are rounded.");
  }
};

// A step of one continuation.
struct GeneratedPart {
  std::size_t prompt;  // its number, from 0
  // The prompt as the vocabulary has it, and its continuation so far. Later parts of this prompt begin with it, but for
  // a character at its end that is not whole yet. What may yet become a text to stop at is not in it.
  std::string text;
  bool ended;
};

struct Generated {
  std::string text;                  // the prompt as the vocabulary has it, and its continuation
  std::vector<std::int32_t> tokens;  // of the continuation, without the end token, and with a text to stop at
  std::vector<double> token_scores;  // the model's log-probabilities of these, and of the end token where it came
};

// Continues every prompt; result i is of prompt i. An empty prompt begins a text. A prompt enters when another has
// ended, and its continuation has the bits that it has alone. on_part, where there is one, is called after each token,
// from this thread. Progress counts the prompts that have ended, and is told after each step. Throws heed::Error for a
// model that translates, for options out of range, and, naming `name` and
// the prompt, for one of as many tokens as the model can hold.
std::vector<Generated> generate(const ModelFolder& folder, std::span<const std::string> prompts,
                                const GenerateOptions& options,
                                const std::function<void(const GeneratedPart&)>& on_part = {},
                                std::string_view name = "prompt", const Progress& progress = {});

// The same behind tokens, such as chat_prompt (heed/tasks/chat.h) makes of a conversation; texts are the continuations
// alone. Throws heed::Error also for a prompt without tokens, or with one that the vocabulary has not.
std::vector<Generated> generate_behind(const ModelFolder& folder, std::span<const std::vector<int>> prompts,
                                       const GenerateOptions& options,
                                       const std::function<void(const GeneratedPart&)>& on_part = {},
                                       std::string_view name = "prompt", const Progress& progress = {});

// A text that grows, such as a conversation: generate_behind for one prompt after another, each with the same result.
// What a prompt has in common with the last one and its continuation is not read again, where keys and values are kept
// apart and as they were (not in linear attention, nor with a `cache` of fewer bits than f32).
class GrowingText {
 public:
  // Holds on to the folder, which must outlive it.
  explicit GrowingText(const ModelFolder& folder);

  Generated go_on(const std::vector<int>& prompt, const GenerateOptions& options,
                  const std::function<void(const GeneratedPart&)>& on_part = {}, std::string_view name = "prompt",
                  const Progress& progress = {});

 private:
  const ModelFolder& folder_;
  std::unique_ptr<Workspace> workspace_;  // stays where it is
  std::optional<Session> session_;        // of what was read last
  Precision cache_{};                     // of the session
};

}  // namespace heed
