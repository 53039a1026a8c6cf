#include "evaluate_text.h"

#include <fmt/core.h>

#include <vector>

#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/perplexity.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct Row {
  std::string name;
  Perplexity result;
};

Json to_json(const Row& row) {
  return Json::object({{"name", row.name},
                       {"perplexity", row.result.perplexity()},
                       {"bits_per_byte", row.result.bits_per_byte()},
                       {"tokens", row.result.tokens},
                       {"documents", row.result.documents},
                       {"bytes", static_cast<Index>(row.result.bytes)}});
}

}  // namespace

void add_text_options(CLI::App& sub, EvaluateText& command, CLI::Option* model,
                      std::initializer_list<CLI::Option*> of_translations) {
  CLI::Option* text = sub.add_option(
      "--text", command.text, "Score how well the language model --model predicts this text, one document a line.");
  CLI::Option* counts =
      sub.add_option("--counts-of", command.counts_of,
                     "With --text: also what counts of this text's tokens predict, one token and five at a time.");
  text->needs(model);
  for (CLI::Option* option : of_translations) text->excludes(option);
  counts->needs(text);
  for (CLI::Option* option : {text, counts}) option->group("Language models");
}

void evaluate_text(const EvaluateText& command, const std::string& model, bool json) {
  const ModelFolder folder = load_model_folder(model);
  const std::vector<std::string> lines = read_text_lines(command.text);
  HEED_CHECK(!lines.empty(), "{}: is empty: there is nothing to score", text_name(command.text));
  ProgressLine progress("documents", std::ssize(lines));
  std::vector<Row> rows{{"model", measure_perplexity(folder, lines, progress.listener())}};
  if (!command.counts_of.empty()) {
    const std::vector<std::string> counted = read_text_lines(command.counts_of);
    for (int order : {1, 5}) {
      rows.push_back({order == 1 ? "unigrams" : fmt::format("{}-grams", order),
                      measure_ngram_perplexity(order, *folder.target_vocabulary, counted, lines)});
    }
  }
  Json list = Json::array();
  for (const Row& row : rows) {
    if (json) {
      list.append(to_json(row));
    } else {
      print_line(fmt::format("{}: perplexity {:.2f}, {:.4f} bits a byte ({} tokens, {} documents, {} bytes)", row.name,
                             row.result.perplexity(), row.result.bits_per_byte(), row.result.tokens,
                             row.result.documents, row.result.bytes));
    }
  }
  if (json) print_line(list.dump(2));
}

}  // namespace heed::cli
