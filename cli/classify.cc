// heed classify
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "commands.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/picture_classifier.h"
#include "option_names.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct ClassifyCommand {
  std::string model, text = "-";
  std::vector<std::string> pictures;
  bool json = false;
};

// {"positive": 0.9, "negative": 0.1}
Json probabilities_of(const Classified& classified, const std::vector<std::string>& labels) {
  Json probabilities = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) probabilities.set(labels[i], classified.probabilities[i]);
  return probabilities;
}

// The likeliest label, a tab, and each with its probability, the likeliest first.
std::string row_of(const Classified& classified, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return classified.probabilities[i]; });
  std::string row = labels[order.front()];
  for (std::size_t i = 0; i < order.size(); ++i) {
    row += fmt::format("{}{} {:.4f}", i == 0 ? '\t' : ' ', labels[order[i]], classified.probabilities[order[i]]);
  }
  return row;
}

Json object_of(const char* what, const Json& name, const Classified& classified,
               const std::vector<std::string>& labels) {
  return Json::object({{what, name},
                       {"label", labels[static_cast<std::size_t>(classified.likeliest())]},
                       {"probabilities", probabilities_of(classified, labels)}});
}

void print_pictures(const ClassifyCommand& command) {
  const PictureClassifier classifier(command.model);
  for (const std::string& picture : command.pictures) {
    const Classified classified = classifier.classify(read_image(picture));
    print_line(command.json ? object_of("picture", picture, classified, classifier.labels()).dump()
                            : shown(picture) + "\t" + row_of(classified, classifier.labels()));
  }
}

void print_texts(const ClassifyCommand& command, const ModelFolder& folder, const std::vector<std::string>& labels) {
  const std::vector<std::string> lines = read_text_lines(command.text);
  ProgressLine progress("texts", std::ssize(lines));
  Index line = 0;
  for (const Classified& text : classify(folder, lines, text_name(command.text), kBatchTokens, progress.listener())) {
    ++line;
    print_line(command.json ? object_of("line", line, text, labels).dump() : row_of(text, labels));
  }
}

void print_tokens(const ClassifyCommand& command, const ModelFolder& folder, const std::vector<std::string>& labels) {
  const Vocabulary& vocabulary = *folder.source_vocabulary;
  const std::vector<std::string> lines = read_text_lines(command.text);
  ProgressLine progress("texts", std::ssize(lines));
  Index line = 0;
  for (const auto& tokens :
       classify_tokens(folder, lines, text_name(command.text), kBatchTokens, progress.listener())) {
    ++line;
    Json list = Json::array();
    std::string row;
    for (const ClassifiedToken& token : tokens) {
      const std::string &piece = vocabulary.piece(token.token),
                        &label = labels[static_cast<std::size_t>(token.likeliest())];
      row += fmt::format("{}{} {}", row.empty() ? "" : "\t", piece, label);
      list.append(
          Json::object({{"token", piece}, {"label", label}, {"probabilities", probabilities_of(token, labels)}}));
    }
    print_line(command.json ? Json::object({{"line", line}, {"tokens", list}}).dump() : row);
  }
}

void run(const ClassifyCommand& command, const CLI::App& sub) {
  if (!command.pictures.empty()) {
    if (was_given(sub, "--text")) throw CLI::ValidationError("--text", "means nothing where there are pictures");
    return print_pictures(command);
  }
  const ModelFolder folder = load_model_folder(command.model);
  const std::vector<std::string>& labels = class_labels(folder);
  if (classifies_tokens(folder)) {
    print_tokens(command, folder, labels);
  } else {
    print_texts(command, folder, labels);
  }
}

}  // namespace

void add_classify_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("classify", "Tell the class of each line, of each of its tokens, or of pictures.");
  auto command = std::make_shared<ClassifyCommand>();
  sub->add_option("model", command->model, "The model's folder or file.")->required();
  sub->add_option("pictures", command->pictures, "PNG and JPEG files, for a model that sees.");
  sub->add_option("--text", command->text,
                  "The text, one a line, a tab between the two of a pair; - is standard input.")
      ->capture_default_str();
  sub->add_flag("--json", command->json, "Print one JSON object a line.");
  sub->footer(
      "A line has the likeliest label, a tab, and each label with its probability, or, of a model that estimates "
      "numbers\n"
      "or chooses among texts, its number. Of a model that labels tokens it has each token and its label, with tabs\n"
      "between. A picture's has its name and a tab before them.\n"
      "Examples:\n  echo 'What a day!' | heed classify distilbert-base-uncased-finetuned-sst-2-english\n"
      "  heed classify vit-base-patch16-224 cat.jpg");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
