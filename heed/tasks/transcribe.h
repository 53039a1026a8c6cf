// Speech in, text out.
//
//   const Transcriber transcriber("whisper-tiny");
//   const Transcription said = transcriber.transcribe(read_wave("speech.wav"), {.language = "de", .words = true});
//   said.text;  said.words[0].begin;
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/progress.h"
#include "heed/decode/beam_search.h"
#include "heed/observe/recorder.h"
#include "heed/observe/trace.h"
#include "heed/pretrained/speech_generation.h"
#include "heed/sound/wave.h"
#include "heed/tasks/model_folder.h"
#include "heed/text/vocabulary.h"

namespace heed {

struct TranscriptionOptions {
  std::string language{};           // its code; empty: the one that the model hears in the first thirty seconds
  std::string task = "transcribe";  // or "translate", into English
  Index beam = 1;                   // 1: greedy
  bool words = false;               // their times
};

struct TimedWord {
  std::string text;
  double begin = 0, end = 0;  // seconds
};

struct Transcription {
  std::string text, language;  // of a model of one language, none
  std::vector<TimedWord> words;
};

class Transcriber {
 public:
  // Throws heed::Error as load_bare_model does, for a model that hears nothing, and where its vocabulary is missing.
  explicit Transcriber(const std::filesystem::path& folder);
  ~Transcriber();

  // The sound is cut into pieces as long as the model hears, thirty seconds, each of which is transcribed by itself. A
  // word is what stands between spaces. Its times are found by dynamic time warping (heed/tasks/time_warp.h) over the
  // cross-attention of the heads that the model's files call aligned, or of all in its upper half, in steps of 20 ms.
  // Progress counts pieces. Throws heed::Error for a language and a task that the model has not, and a beam out of
  // range.
  Transcription transcribe(const Wave& wave, const TranscriptionOptions& options, const Progress& progress = {}) const;

  // What it attends to in the first piece, in every layer: frames of sound, 20 ms each, and the tokens of what it
  // hears. The encoder attends to silence up to the end of the piece too, which is not kept.
  AttentionTrace trace(const Wave& wave, const TranscriptionOptions& options, const TraceParts& parts = {}) const;

 private:
  using Ids = std::vector<std::int32_t>;
  // A piece of sound, and what was heard in it.
  struct Heard {
    Tensor bands;
    std::int32_t language = -1;  // negative: of a model of one language
    Ids prompt{}, tokens{};
  };

  // Negative: the sound is to be asked.
  std::int32_t language_of(const TranscriptionOptions& options) const;
  std::int32_t heard_language(const Tensor& bands, Workspace& workspace) const;
  Ids search(const Tensor& bands, const Ids& prompt, Index beam, Workspace& workspace) const;
  Heard hear(std::span<const float> samples, std::int32_t language, const TranscriptionOptions& options,
             Workspace& workspace) const;
  // Of the words in a piece of so many samples, from its begin.
  std::vector<TimedWord> timed_words(const Heard& heard, Index samples, Workspace& workspace) const;

  BareModel opened_;
  SpeechGeneration speech_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace heed
