// How a model of speech is asked for text: what its decoder reads first, and what it must not say.
//
//   const SpeechGeneration speech = read_speech_generation("whisper-tiny");
//   std::vector<std::int32_t> prompt = speech.prompt(speech.language_id("de"), "transcribe");
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// Of generation_config.json, or where that lacks it of config.json, with Hugging Face's names.
struct SpeechGeneration {
  std::int32_t start = -1;                            // decoder_start_token_id
  std::vector<std::int32_t> ends;                     // eos_token_id, one or several
  std::map<std::string, std::int32_t> languages;      // lang_to_id without its brackets: "de"; none: of one language
  std::map<std::string, std::int32_t> tasks;          // task_to_id: "transcribe", "translate" (into English)
  std::vector<std::int32_t> forced;                   // forced_decoder_ids, those that follow `start`
  std::int32_t no_timestamps = -1;                    // no_timestamps_token_id
  std::vector<std::int32_t> never, never_first;       // suppress_tokens, begin_suppress_tokens
  std::vector<std::array<Index, 2>> alignment_heads;  // layer and head; none: nobody has found out which are good

  // Throws heed::Error that says which there are for a language that the model does not know, by its code.
  std::int32_t language_id(std::string_view code) const;
  // What the decoder reads before it is asked: start, language, task, and that no times are wanted. Of a model of one
  // language, which has neither, what it is forced to. Throws heed::Error for a task that the model has not.
  std::vector<std::int32_t> prompt(std::int32_t language, std::string_view task) const;
};

// Throws heed::Error that names the place for what has no meaning.
SpeechGeneration read_speech_generation(const std::filesystem::path& folder);

// Writes the folder's generation_config.json.
void save_speech_generation(const std::filesystem::path& folder, const SpeechGeneration& speech);

}  // namespace heed
