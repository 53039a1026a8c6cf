// heed transcribe
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "heed/io/json.h"
#include "heed/tasks/transcribe.h"
#include "numbers.h"
#include "output.h"

namespace heed::cli {
namespace {

struct TranscribeCommand {
  std::string model;
  std::vector<std::string> sounds;
  TranscriptionOptions options;
  bool json = false;
};

Json to_json(const std::string& sound, const Transcription& said, bool has_words) {
  Json object = Json::object({{"sound", sound}, {"text", said.text}});
  if (!said.language.empty()) object.set("language", said.language);
  if (!has_words) return object;
  Json words = Json::array();
  for (const TimedWord& word : said.words) {
    words.append(Json::object({{"word", word.text}, {"begin", word.begin}, {"end", word.end}}));
  }
  object.set("words", words);
  return object;
}

void run(const TranscribeCommand& command) {
  const Transcriber transcriber(command.model);
  for (const std::string& sound : command.sounds) {
    const Transcription said = transcriber.transcribe(read_wave(sound), command.options);
    if (command.json) {
      print_line(to_json(sound, said, command.options.words).dump());
    } else if (command.options.words) {
      for (const TimedWord& word : said.words)
        print_line(fmt::format("{:.2f}\t{:.2f}\t{}", word.begin, word.end, word.text));
    } else {
      print_line(said.text);
    }
  }
}

}  // namespace

void add_transcribe_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("transcribe", "Write down what is said in sound.");
  auto command = std::make_shared<TranscribeCommand>();
  sub->add_option("model", command->model, "The model's folder.")->required();
  sub->add_option("sounds", command->sounds, "WAV files.")->required();
  sub->add_option("--language", command->options.language, "The code of the language that is spoken, such as de.")
      ->default_str("the one that the model hears");
  sub->add_option("--task", command->options.task, "transcribe, or translate (into English).")
      ->check(CLI::IsMember({"transcribe", "translate"}))
      ->capture_default_str();
  add_number(*sub, "--beam", command->options.beam, "Hypotheses that the search keeps; 1 is greedy.",
             NumberRange::from(1, kWidestBeam));
  sub->add_flag("--words", command->options.words,
                "Print a line for each word: the seconds of its begin and its end, and the word, with tabs between.");
  sub->add_flag("--json", command->json, "Print one JSON object for each sound.");
  sub->footer("Example:\n  heed transcribe whisper-tiny speech.wav --language de --words");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
