// heed fill
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/fill.h"
#include "numbers.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct FillCommand {
  std::string model, text = "-";
  Index candidates = 5;
  bool json = false;
};

Json to_json(const MaskedWord& mask, const Vocabulary& vocabulary, std::size_t line) {
  Json candidates = Json::array();
  for (const auto& [token, probability] : mask.candidates) {
    candidates.append(Json::object({{"token", vocabulary.piece(token)},
                                    {"probability", probability},
                                    {"text", filled_text(vocabulary, mask, token)}}));
  }
  return Json::object({{"line", static_cast<Index>(line)}, {"position", mask.position}, {"candidates", candidates}});
}

std::string row_of(const MaskedWord& mask, const Vocabulary& vocabulary, std::size_t line) {
  std::string row = std::to_string(line);
  for (std::size_t i = 0; i < mask.candidates.size(); ++i) {
    const auto& [token, probability] = mask.candidates[i];
    row += fmt::format("{}{} {:.4f}", i == 0 ? '\t' : ' ', vocabulary.piece(token), probability);
  }
  return row;
}

void run(const FillCommand& command) {
  const ModelFolder folder = load_model_folder(command.model);
  const Vocabulary& vocabulary = *folder.source_vocabulary;
  const std::vector<std::string> lines = read_text_lines(command.text);
  ProgressLine progress("texts", std::ssize(lines));
  std::size_t line = 0;
  for (const std::vector<MaskedWord>& masks :
       fill_masks(folder, lines, command.candidates, text_name(command.text), kBatchTokens, progress.listener())) {
    ++line;
    for (const MaskedWord& mask : masks) {
      print_line(command.json ? to_json(mask, vocabulary, line).dump() : row_of(mask, vocabulary, line));
    }
  }
}

}  // namespace

void add_fill_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("fill", "Guess the words that [MASK] hides.");
  auto command = std::make_shared<FillCommand>();
  sub->add_option("model", command->model, "The model's folder or file.")->required();
  sub->add_option("--text", command->text, "The text, with [MASK] in each line; - is standard input.")
      ->capture_default_str();
  add_number(*sub, "--candidates", command->candidates, "Words for each mask.", NumberRange::from(1, 1 << 20));
  sub->add_flag("--json", command->json, "Print one JSON object a mask, with the text that each word makes.");
  sub->footer(
      "Prints a line for each mask: the number of its line, a tab, and each word with its probability, the likeliest "
      "first.\nExample:\n  echo 'The [MASK] barked.' | heed fill bert-base-uncased");
  sub->callback([command] { run(*command); });
}

}  // namespace heed::cli
