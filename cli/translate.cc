// heed translate
#include <fmt/core.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "field_options.h"
#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/caption.h"
#include "language_options.h"
#include "long_lines.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct TranslateCommand {
  std::string model, input = "-";
  std::vector<std::string> images;
  Languages languages;
  FieldOptions search;  // over what the model's folder says
  Index chunk = 2048;
  LongLines long_lines = LongLines::fail;
  bool scores = false, json = false;
};

Json to_json(const Translation& translation, const Vocabulary& target) {
  std::vector<std::string> pieces;
  for (std::int32_t id : translation.tokens) pieces.push_back(target.piece(id));
  return Json::object({{"text", translation.text},
                       {"score", translation.score},
                       {"tokens", Json::array_of(pieces)},
                       {"token_scores", Json::array_of(translation.token_scores)}});
}

void check_best(const BeamOptions& search) {
  if (search.best > search.beam) {
    throw CLI::ValidationError("--best",
                               fmt::format("must be at most --beam, which is {}, but is {}", search.beam, search.best));
  }
}

// The model's own way to search, but for what was given.
BeamOptions chosen_search(const TranslateCommand& command, const ModelFolder& folder) {
  BeamOptions search = folder.decoding.search;
  command.search.apply(search);
  check_best(search);
  return search;
}

void print_translations(const TranslateCommand& command, const BeamOptions& search,
                        const std::vector<Translation>& best, Index line, const Vocabulary& target) {
  if (command.json) {
    Json list = Json::array();
    for (const Translation& translation : best) list.append(to_json(translation, target));
    return print_line(Json::object({{"line", line}, {"translations", list}}).dump());
  }
  for (const Translation& translation : best) {
    std::string text;
    if (search.best > 1) text += fmt::format("{}\t", line);
    if (command.scores) text += fmt::format("{:.4f}\t", translation.score);
    print_line(text + translation.text);
  }
}

// What pictures show, in the place of sentences.
void caption(const TranslateCommand& command) {
  const ModelFolder folder = load_model_folder(command.model);
  const BeamOptions search = chosen_search(command, folder);
  const Captioner captioner(folder);
  for (Index i = 0; i < std::ssize(command.images); ++i) {
    const std::string& name = command.images[static_cast<std::size_t>(i)];
    const Image image = read_image(name);
    try {
      print_translations(command, search, captioner.caption({&image, 1}, search).front(), i + 1,
                         *folder.target_vocabulary);
    } catch (const Error& error) {
      fail("{}: {}", name, error.what());
    }
  }
}

// An option that would be ignored is a mistake.
void refuse_options_of_text(const CLI::App& sub) {
  for (const char* option : {"--chunk", "--long-lines", "--from-language", "--to-language"}) {
    if (was_given(sub, option)) throw CLI::ValidationError(option, "means nothing with --image");
  }
}

void run(const TranslateCommand& command, const CLI::App& sub) {
  if (!command.images.empty()) {
    refuse_options_of_text(sub);
    return caption(command);
  }
  const ModelFolder folder = load_model_folder(command.model, command.languages);
  const BeamOptions search = chosen_search(command, folder);
  Translator translator(folder, command.long_lines);
  const bool fail_at_long = command.long_lines == LongLines::fail;
  TextLineReader reader(command.input, fail_at_long ? TextLineReader::LongLine::refuse : TextLineReader::LongLine::cut);
  const std::string name = text_name(command.input);
  LongLineWarning warning(name, command.long_lines);
  // As lines come: who writes a line and waits for its translation gets it, and those of a long text appear while it is
  // worked on.
  Index first = 1;
  ProgressLine progress("sentences", reader.count_ahead());
  const auto translate = [&](std::span<const std::string> lines) {
    const auto all = translator.translate(lines, search, name, first, kBatchTokens,
                                          [&](Index done) { progress.show(first - 1 + done); });
    for (const auto& best : all) {
      print_translations(command, search, best, first++, *folder.target_vocabulary);
    }
    warning.add(translator.long_lines());
  };
  for (std::vector<std::string> lines; !(lines = reader.read(command.chunk)).empty();) {
    if (command.long_lines == LongLines::empty) {
      for (Index cut : reader.cut_lines()) lines[static_cast<std::size_t>(cut - first)].clear();
    }
    warning.add(reader.cut_lines());
    const std::size_t sound = fail_at_long ? translator.count_before_long_line(lines) : lines.size();
    translate(std::span(lines).first(sound));
    translate(std::span(lines).subspan(sound));  // begins with the line that it fails at
  }
  warning.print();
}

}  // namespace

void add_translate_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("translate",
                                     "Translate text, one sentence a line, to standard output, in order; or tell what "
                                     "pictures show.");
  auto command = std::make_shared<TranslateCommand>();
  sub->add_option("model", command->model, "The model's folder.")->required();
  CLI::Option* input =
      sub->add_option("--input", command->input, "Text to translate; - is standard input.")->capture_default_str();
  sub->add_option("--image", command->images,
                  "For a model that tells what pictures show: a PNG or JPEG file. May be given again.")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->excludes(input);
  add_languages(*sub, command->languages);
  command->search.add(*sub, BeamOptions{}, "Search");
  add_number(*sub, "--chunk", command->chunk,
             "Sentences that are translated together, at most; fewer where no more are there yet.",
             NumberRange::at_least(1));
  add_long_lines(*sub, command->long_lines);
  sub->add_flag("--scores", command->scores, "Print each translation's score before it.");
  sub->add_flag("--json", command->json, "Print one JSON object a sentence, with the score of every token.");
  sub->footer(
      "Examples:\n  echo 'Guten Morgen.' | heed translate model --beam 5\n  heed translate captioner --image x.png\n"
      "What a folder of others says of decoding (generation_config.json) is the default of the search.");
  sub->callback([command, sub] {
    BeamOptions given;  // what is wrong without a model is said before one is opened
    command->search.apply(given);
    if (was_given(*sub, "--beam")) check_best(given);
    run(*command, *sub);
  });
}

}  // namespace heed::cli
