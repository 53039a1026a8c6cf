// heed evaluate
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "align_output.h"
#include "beam_option.h"
#include "commands.h"
#include "evaluate_captions.h"
#include "evaluate_text.h"
#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/io/json.h"
#include "heed/metrics/alignment.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/ter.h"
#include "heed/tasks/translate.h"
#include "language_options.h"
#include "option_names.h"
#include "output.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

struct EvaluateCommand {
  std::string hypothesis, model, source, alignment, gold;
  EvaluateCaptions captions;
  std::vector<std::string> references;
  std::vector<std::string> metrics = {"bleu", "chrf", "ter"};
  std::string tokenize = "13a", smoothing = "exp";
  EvaluateText text;
  std::optional<Index> beam;
  Languages languages;
  bool lowercase = false, one_based = false, json = false;
};

// --- Translations ----------------------------------------------------------------------------------------------------

std::vector<std::string> read_segments(const std::string& path) {
  std::vector<std::string> lines = read_text_lines(path);
  HEED_CHECK(!lines.empty(), "{}: is empty: there is nothing to score", text_name(path));
  return lines;
}

std::vector<std::string> translations_of(const EvaluateCommand& command, const ModelFolder& folder) {
  std::vector<std::string> best;
  const std::vector<std::string> source = read_segments(command.source);
  ProgressLine progress("sentences", std::ssize(source));
  for (const auto& list : Translator(folder).translate(
           source, search_of(folder, command.beam), text_name(command.source), 1, kBatchTokens, progress.listener())) {
    best.push_back(list.front().text);
  }
  return best;
}

// One metric's figures: a line for people, and an object for programs.
struct Report {
  std::string text;
  Json json;
};

// "BLEU|nrefs:1|...|version:heed-0.1.0 = 26.60 58.9/32.3/20.1/13.0 ...": the signature beside the number, as sacreBLEU
// prints it.
std::string signed_summary(const std::string& summary, const std::string& signature) {
  const std::size_t name_end = summary.find(' ');
  return summary.substr(0, name_end) + '|' + signature + summary.substr(name_end);
}

Json json_of(const std::string& name, double score, const std::string& signature) {
  return Json::object({{"name", name}, {"score", score}, {"signature", signature}});
}

Report report_bleu(const BleuScore& bleu) {
  Report report{signed_summary(bleu.summary(), bleu.signature), json_of("BLEU", bleu.score, bleu.signature)};
  report.json.set("precisions", Json::array_of(bleu.precisions));
  report.json.set("brevity_penalty", bleu.brevity_penalty);
  report.json.set("hypothesis_length", bleu.hypothesis_length);
  report.json.set("reference_length", bleu.reference_length);
  return report;
}

Report report_chrf(const ChrfScore& chrf) {
  return {signed_summary(chrf.summary(), chrf.signature), json_of(chrf.name, chrf.score, chrf.signature)};
}

Report report_ter(const TerScore& ter) {
  Report report{signed_summary(ter.summary(), ter.signature), json_of("TER", ter.score, ter.signature)};
  report.json.set("edits", ter.edits);
  report.json.set("reference_length", ter.reference_length);
  return report;
}

Report report_metric(const EvaluateCommand& command, const std::string& metric,
                     const std::vector<std::string>& hypotheses,
                     const std::vector<std::vector<std::string>>& references) {
  if (metric == "bleu") {
    return report_bleu(corpus_bleu(hypotheses, references,
                                   {.tokenizer = parse_bleu_tokenizer(command.tokenize),
                                    .lowercase = command.lowercase,
                                    .smoothing = parse_bleu_smoothing(command.smoothing)}));
  }
  if (metric == "ter") return report_ter(corpus_ter(hypotheses, references));
  const int word_order = metric == "chrf++" ? 2 : 0;
  return report_chrf(corpus_chrf(hypotheses, references, {.word_order = word_order, .lowercase = command.lowercase}));
}

void print_reports(const std::vector<Report>& reports, bool json) {
  if (json) {
    Json list = Json::array();
    for (const Report& report : reports) list.append(report.json);
    return print_line(list.dump(2));
  }
  for (const Report& report : reports) print_line(report.text);
}

using Segments = std::vector<std::string>;

std::vector<Segments> read_references(const EvaluateCommand& command) {
  std::vector<Segments> references;
  for (const std::string& path : command.references) references.push_back(read_segments(path));
  return references;
}

// `hypotheses` are of the lines of `of`.
void score_translations(const EvaluateCommand& command, const std::string& of, const Segments& hypotheses,
                        const std::vector<Segments>& references) {
  for (std::size_t r = 0; r < references.size(); ++r) {
    HEED_CHECK(references[r].size() == hypotheses.size(), "{} has {} lines, but {} has {}", text_name(of),
               hypotheses.size(), text_name(command.references[r]), references[r].size());
  }
  std::vector<Report> reports;
  for (const std::string& metric : command.metrics) {
    reports.push_back(report_metric(command, metric, hypotheses, references));
  }
  print_reports(reports, command.json);
}

// --- Alignments ------------------------------------------------------------------------------------------------------

void evaluate_alignment(const EvaluateCommand& command) {
  const auto links = parse_alignments(read_text_lines(command.alignment),
                                      {.name = text_name(command.alignment), .one_based = command.one_based});
  const auto gold = parse_gold_alignments(read_text_lines(command.gold),
                                          {.name = text_name(command.gold), .one_based = command.one_based});
  HEED_CHECK(!gold.empty(), "{}: is empty: there is nothing to score", text_name(command.gold));
  HEED_CHECK(links.size() == gold.size(), "{} has {} lines, but {} has {}", text_name(command.alignment), links.size(),
             text_name(command.gold), gold.size());
  const AlignmentScore score = score_alignments(links, gold);
  print_reports({{score.summary(), alignment_score_to_json(score)}}, command.json);
}

// --- The command -----------------------------------------------------------------------------------------------------

void require(bool given, const char* option, const char* with) {
  if (!given) throw CLI::ValidationError(option, std::string("is needed with ") + with);
}

// An option that would be ignored is a mistake.
void refuse_options_of_translations(const CLI::App& sub, const char* what) {
  for (const char* option :
       {"--beam", "--from-language", "--to-language", "--metrics", "--tokenize", "--smoothing", "--lowercase"}) {
    if (was_given(sub, option)) throw CLI::ValidationError(option, fmt::format("means nothing to {}", what));
  }
}

void evaluate_model(const EvaluateCommand& command, const CLI::App& sub) {
  require(!command.source.empty(), "--source", "--model");
  require(!command.references.empty(), "--reference", "--model");
  const ModelFolder folder = load_model_folder(command.model, command.languages);
  if (!captions_pictures(folder.config)) {
    HEED_CHECK(command.captions.places.empty(), "--places: {} reads no pictures", command.model);
    const std::vector<Segments> references = read_references(command);  // first: to translate takes long
    return score_translations(command, command.source, translations_of(command, folder), references);
  }
  refuse_options_of_translations(sub, "captions");
  if (command.references.size() > 1) {
    throw CLI::ValidationError("--reference", "must be one where captions are scored");
  }
  evaluate_captions(command.captions, folder, command.source, command.references.front(), command.json);
}

void run(const EvaluateCommand& command, const CLI::App& sub) {
  if (!command.alignment.empty()) {
    require(!command.gold.empty(), "--gold", "--alignment");
    refuse_options_of_translations(sub, "alignments");
    return evaluate_alignment(command);
  }
  if (!command.text.text.empty()) {
    refuse_options_of_translations(sub, "a language model");
    return evaluate_text(command.text, command.model, command.json);
  }
  if (!command.model.empty()) return evaluate_model(command, sub);
  if (command.hypothesis.empty()) {
    throw CLI::RequiredError("One of --hypothesis, --alignment and --model");
  }
  require(!command.references.empty(), "--reference", "--hypothesis");
  if (command.hypothesis == "-" && std::ranges::find(command.references, "-") != command.references.end()) {
    throw CLI::ValidationError("--reference", "is standard input, which --hypothesis reads already");
  }
  score_translations(command, command.hypothesis, read_segments(command.hypothesis), read_references(command));
}

// Returns --gold.
CLI::Option* add_alignment_options(CLI::App& sub, EvaluateCommand& command, CLI::Option* hypothesis,
                                   CLI::Option* model) {
  CLI::Option* alignment = sub.add_option("--alignment", command.alignment,
                                          "Score these word alignments, i-j counted from 0, against --gold.");
  CLI::Option* gold = sub.add_option("--gold", command.gold, "Gold word alignments: i-j, or ipj where only possible.");
  CLI::Option* one_based =
      sub.add_flag("--one-based", command.one_based, "Words count from 1 in alignment files, not from 0.");
  alignment->excludes(hypothesis)->excludes(model);
  gold->needs(alignment);
  one_based->needs(alignment);
  for (CLI::Option* option : {alignment, gold, one_based}) option->group("Alignments");
  return gold;
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "evaluate",
      "Score translations (BLEU, chrF, TER), captions of pictures, word alignments (AER) or language models "
      "(perplexity).");
  auto command = std::make_shared<EvaluateCommand>();
  CLI::Option* hypothesis =
      sub->add_option("--hypothesis", command->hypothesis, "Translations, one a line; - is standard input.");
  CLI::Option* reference =
      sub->add_option("--reference", command->references, "Good translations of the same lines. May be given again.")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option* model = sub->add_option("--model", command->model, "Score this model's translations of --source.");
  model->excludes(hypothesis);
  CLI::Option* source = sub->add_option("--source", command->source,
                                        "What the model translates; of a model that captions, a list of pictures.")
                            ->needs(model);
  add_beam(*sub, command->beam)->needs(model);
  add_languages(*sub, command->languages);
  for (const char* option : {"--from-language", "--to-language"}) sub->get_option(option)->needs(model);
  sub->add_option("--metrics", command->metrics, "Any of bleu, chrf, chrf++, ter, separated by commas.")
      ->delimiter(',')
      ->check(CLI::IsMember({"bleu", "chrf", "chrf++", "ter"}))
      ->capture_default_str();
  sub->add_option("--tokenize", command->tokenize, "BLEU's tokens.")
      ->check(CLI::IsMember({"13a", "none", "intl", "char"}))
      ->capture_default_str();
  sub->add_option("--smoothing", command->smoothing, "What BLEU does about orders without a match.")
      ->check(CLI::IsMember({"exp", "floor", "add-k", "none"}))
      ->capture_default_str();
  sub->add_flag("--lowercase", command->lowercase, "BLEU and chrF ignore case; TER always does.");
  CLI::Option* gold = add_alignment_options(*sub, *command, hypothesis, model);
  add_caption_options(*sub, command->captions, model);
  add_text_options(*sub, command->text, model, {source, reference, gold});
  sub->add_flag("--json", command->json, "Print JSON, with unrounded numbers.");
  sub->footer(
      "Examples:\n  heed translate model --input test.de | heed evaluate --hypothesis - --reference test.en\n"
      "  heed evaluate --model model --source test.de --reference test.en --beam 5\n"
      "  heed evaluate --alignment test.align --gold test.gold\n"
      "  heed evaluate --model captioner --source test.images --reference test.en --places test.en.places\n"
      "  heed evaluate --model model --text test.txt --counts-of train.txt");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
