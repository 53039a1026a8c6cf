// heed score
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/score.h"
#include "language_options.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct ScoreCommand {
  std::string model, text, source, target;
  Languages languages;
  bool json = false;
};

void print_scores(const TokenScores& scores, const Vocabulary& vocabulary, Index line, bool json) {
  if (json) {
    std::vector<std::string> pieces;
    for (std::int32_t id : scores.tokens) pieces.push_back(vocabulary.piece(id));
    return print_line(Json::object({{"line", line},
                                    {"score", scores.sum()},
                                    {"tokens", Json::array_of(pieces)},
                                    {"log_probabilities", Json::array_of(scores.log_probabilities)}})
                          .dump());
  }
  std::string row = fmt::format("{:.4f}", scores.sum());
  for (std::size_t t = 0; t < scores.tokens.size(); ++t) {
    row += fmt::format("{}{} {:.4f}", t == 0 ? '\t' : ' ', vocabulary.piece(scores.tokens[t]),
                       scores.log_probabilities[t]);
  }
  print_line(row);
}

std::vector<TokenScores> scores_of(const ScoreCommand& command, const ModelFolder& folder) {
  if (!folder.model->has_source()) {
    if (command.text.empty() || !command.source.empty() || !command.target.empty()) {
      throw CLI::ValidationError("--text", "is what a language model scores, without --source and --target");
    }
    const std::vector<std::string> lines = read_text_lines(command.text);
    ProgressLine progress("documents", std::ssize(lines));
    return score_documents(folder, lines, kBatchTokens, progress.listener());
  }
  if (!command.text.empty() || command.source.empty() || command.target.empty()) {
    throw CLI::ValidationError("--source", "and --target are what a translation model scores, without --text");
  }
  const std::vector<std::string> source = read_text_lines(command.source), target = read_text_lines(command.target);
  HEED_CHECK(source.size() == target.size(), "{} has {} lines, but {} has {}: they must be as many",
             text_name(command.source), source.size(), text_name(command.target), target.size());
  ProgressLine progress("sentence pairs", std::ssize(source));
  return score_translations(folder, source, target, text_name(command.source), kBatchTokens, progress.listener());
}

void run(const ScoreCommand& command) {
  const ModelFolder folder = load_model_folder(command.model, command.languages);
  check_purpose(continues_text(folder.config) || translates_text(folder.config), folder, "scores no text");
  Index line = 0;
  for (const TokenScores& scores : scores_of(command, folder)) {
    print_scores(scores, *folder.target_vocabulary, ++line, command.json);
  }
}

}  // namespace

void add_score_command(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("score", "Print how likely a model finds text: the log-probability of each token.");
  auto command = std::make_shared<ScoreCommand>();
  sub->add_option("model", command->model, "The model's folder.")->required();
  sub->add_option("--text", command->text, "Language models: the text, one document a line; - is standard input.");
  sub->add_option("--source", command->source, "Translation models: what was translated.");
  sub->add_option("--target", command->target, "Its translation, line by line.");
  add_languages(*sub, command->languages);
  sub->add_flag("--json", command->json, "Print one JSON object a line.");
  sub->footer(
      "A line has the sum, a tab, and each token with its log-probability, the end token last.\n"
      "Example:\n  heed score model --source test.de --target test.en");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
