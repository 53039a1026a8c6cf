// heed align
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "align_output.h"
#include "commands.h"
#include "heed/base/check.h"
#include "heed/base/text_lines.h"
#include "heed/io/fields.h"
#include "heed/io/json.h"
#include "heed/tasks/alignment_search.h"
#include "heed/tasks/symmetrise.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "output_files.h"
#include "progress_line.h"

namespace heed::cli {
namespace {

constexpr std::string_view kAgreement = "agreement";
constexpr std::size_t kChunk = 512;  // sentence pairs that are aligned at once

struct AlignCommand {
  std::string model, reverse, source, target, gold, out;
  std::string valid_source, valid_target, valid_gold;
  std::string head = "mean", format = "links";
  std::optional<Index> layer;
  AlignmentStep step = AlignmentStep::produces;
  double threshold = 0;
  std::optional<double> free;
  bool apart = false, balance = false;
  std::string symmetrise = "grow-diag-final-and";
  bool one_based = false, json = false;

  bool chooses() const { return !valid_gold.empty(); }
};

// A model, what is read off it, and how that was chosen.
struct Direction {
  ModelFolder folder;
  AlignmentChoice choice{};
  std::optional<AlignmentSearch> search{};
};

// --- What is read off a model ----------------------------------------------------------------------------------------

// "3" is a head of the layer, "1:3" one of layer 1.
std::vector<AttentionHead> read_layer_heads(std::string_view text, Index layer) {
  const NumberRange from_zero = NumberRange::at_least(0);
  std::vector<AttentionHead> heads;
  for (std::string_view item : split_at_commas(text)) {
    AttentionHead head{.layer = layer};
    if (const std::size_t colon = item.find(':'); colon != item.npos) {
      head.layer = read_number<Index>("--head", item.substr(0, colon), from_zero);
      item.remove_prefix(colon + 1);
    }
    head.head = read_number<Index>("--head", item, from_zero);
    if (std::ranges::find(heads, head) != heads.end()) {
      throw CLI::ValidationError("--head", fmt::format("names head {} of layer {} twice", head.head, head.layer));
    }
    heads.push_back(head);
  }
  return heads;
}

AlignmentChoice choice_of(const AlignCommand& command, const ModelFolder& folder) {
  const std::vector<std::vector<AttentionHead>> layers = cross_attention_heads(folder);
  const Index last = std::ssize(layers) - 1, layer = command.layer.value_or(last);
  HEED_CHECK(layer <= last, "--layer: the model has layers 0 to {} of cross-attention, and no {}", last, layer);
  AlignmentChoice choice{.step = command.step,
                         .rule = {command.threshold, command.free, command.apart, command.balance}};
  choice.heads =
      command.head == "mean" ? layers[static_cast<std::size_t>(layer)] : read_layer_heads(command.head, layer);
  return choice;
}

Direction open_direction(const AlignCommand& command, const std::string& model, const AlignedText& valid) {
  Direction direction{load_model_folder(model)};
  if (command.chooses()) {
    direction.search = search_alignments(direction.folder, valid);
    direction.choice = direction.search->best().choice;
  } else {
    direction.choice = choice_of(command, direction.folder);
  }
  return direction;
}

// Two models whose weights are multiplied.
bool multiplies(const AlignCommand& command) { return command.symmetrise == kAgreement; }

// What is read off the models, and how the product of two is linked.
struct Reading {
  std::vector<Direction> directions;
  std::optional<RuleSearch> product{};
};

Reading open_reading(const AlignCommand& command) {
  AlignedText valid;
  if (command.chooses()) {
    valid = read_aligned_text(command.valid_source, command.valid_target, command.valid_gold, command.one_based);
  }
  Reading reading;
  reading.directions.push_back(open_direction(command, command.model, valid));
  if (command.reverse.empty()) return reading;
  reading.directions.push_back(open_direction(command, command.reverse, valid.reversed()));
  if (!multiplies(command) || !command.chooses()) return reading;
  std::vector<SoftAlignment> both = reading.directions[0].search->soft;
  const std::vector<SoftAlignment>& other = reading.directions[1].search->soft;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = agreement(both[i], other[i]);
  reading.product = search_rules(both, valid.gold);
  return reading;
}

AlignmentLinks link(const AlignCommand& command, const Reading& reading, const SoftAlignment& forward,
                    const SoftAlignment& backward) {
  const LinkRule& rule = reading.directions[0].choice.rule;
  if (multiplies(command)) {
    return links_of(agreement(forward, backward), reading.product ? reading.product->rule : rule);
  }
  Symmetrisation how{};
  enum_from_name(command.symmetrise, how);
  return symmetrise(links_of(forward, rule), transpose(links_of(backward, reading.directions[1].choice.rule)), how);
}

// --- The corpus ------------------------------------------------------------------------------------------------------

struct AlignCorpus {
  std::vector<std::string> source, target;
  std::vector<GoldAlignment> gold;  // where there is some
};

AlignCorpus read_corpus(const AlignCommand& command) {
  if (!command.gold.empty()) {
    AlignedText text = read_aligned_text(command.source, command.target, command.gold, command.one_based);
    return {std::move(text.source), std::move(text.target), std::move(text.gold)};
  }
  AlignCorpus corpus{read_text_lines(command.source), read_text_lines(command.target), {}};
  HEED_CHECK(corpus.source.size() == corpus.target.size(), "{} has {} lines, but {} has {}: they must be as many",
             text_name(command.source), corpus.source.size(), text_name(command.target), corpus.target.size());
  return corpus;
}

// Aligns the corpus some pairs at a time and writes them; gives the links of all.
std::vector<AlignmentLinks> align_corpus(const AlignCommand& command, const AlignCorpus& corpus, const Reading& reading,
                                         AlignmentOutput& output) {
  const std::vector<Direction>& directions = reading.directions;
  const std::string source_name = text_name(command.source), target_name = text_name(command.target);
  const std::span<const std::string> source = corpus.source, target = corpus.target;
  std::vector<AlignmentLinks> all;
  ProgressLine progress("sentence pairs", std::ssize(corpus.source));
  for (std::size_t first = 0; first < source.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, source.size() - first);
    const TextPairs pairs{source.subspan(first, count), target.subspan(first, count), source_name, target_name,
                          static_cast<Index>(first) + 1};
    const TextPairs reversed{pairs.target, pairs.source, target_name, source_name, pairs.first_line};
    const auto forward = soft_alignments(directions[0].folder, pairs, directions[0].choice);
    std::vector<SoftAlignment> backward;
    if (directions.size() > 1) backward = soft_alignments(directions[1].folder, reversed, directions[1].choice);
    for (std::size_t i = 0; i < count; ++i) {
      AlignmentLinks links = backward.empty() ? links_of(forward[i], directions[0].choice.rule)
                                              : link(command, reading, forward[i], backward[i]);
      output.write({pairs.first_line + static_cast<Index>(i), pairs.source[i], pairs.target[i], links, forward[i],
                    backward.empty() ? nullptr : &backward[i]});
      all.push_back(std::move(links));
    }
    progress.show(static_cast<Index>(first + count));
  }
  return all;
}

// --- What is said about it -------------------------------------------------------------------------------------------

void set_rule(Json& json, const LinkRule& rule) {
  json.set("threshold", rule.threshold);
  json.set("apart", rule.apart);
  json.set("balance", rule.balance);
  if (rule.free) json.set("free", *rule.free);
}

Json to_json(const Direction& direction) {
  const auto of_choice = [](const AlignmentChoice& choice) {
    Json heads = Json::array();
    for (const AttentionHead& head : choice.heads) heads.append(fmt::format("{}:{}", head.layer, head.head));
    Json json = Json::object({{"heads", std::move(heads)}, {"step", enum_name(choice.step)}});
    set_rule(json, choice.rule);
    return json;
  };
  Json json = of_choice(direction.choice);
  if (!direction.search) return json;
  Json tried = Json::array();
  for (const AlignmentCandidate& candidate : direction.search->candidates) {
    Json one = of_choice(candidate.choice);
    one.set("score", 100 * candidate.score.error_rate);
    tried.append(std::move(one));
  }
  json.set("candidates", std::move(tried));
  return json;
}

void print_score(const AlignCommand& command, const Reading& reading, const AlignmentScore& score) {
  const std::vector<Direction>& directions = reading.directions;
  if (command.json) {
    Json json = alignment_score_to_json(score);
    Json read = Json::array();
    for (const Direction& direction : directions) read.append(to_json(direction));
    json.set("read", std::move(read));
    if (reading.product) {
      Json product = Json::object({});
      set_rule(product, reading.product->rule);
      product.set("score", 100 * reading.product->score.error_rate);
      json.set("agreement", std::move(product));
    }
    return print_line(json.dump(2));
  }
  for (const Direction& direction : directions) {
    std::string line = describe(direction.choice);
    if (direction.search) {
      line = fmt::format("chosen on {}: {}: {}", shown(command.valid_gold), line,
                         direction.search->best().score.summary());
    }
    print_line(line);
  }
  if (reading.product) {
    print_line(fmt::format("their agreement{}: {}", describe(reading.product->rule), reading.product->score.summary()));
  }
  print_line(fmt::format("on {}: {}", shown(command.gold), score.summary()));
}

// --- The command -----------------------------------------------------------------------------------------------------

void check_usage(const AlignCommand& command, const CLI::App& sub) {
  const auto refuse = [](const char* option, const std::string& rule) { throw CLI::ValidationError(option, rule); };
  const bool any = !command.valid_source.empty() || !command.valid_target.empty() || command.chooses();
  const bool all = !command.valid_source.empty() && !command.valid_target.empty() && command.chooses();
  if (any && !all) refuse("--valid-gold", "goes with --valid-source and --valid-target: all three or none");
  if (command.chooses()) {
    for (const char* option : {"--layer", "--head", "--step", "--threshold", "--free", "--apart", "--balance"}) {
      if (was_given(sub, option)) refuse(option, "is chosen on the validation text where there is one");
    }
  }
  if (command.threshold > 0 && command.free) refuse("--free", "means nothing with --threshold");
  if (command.reverse.empty() && was_given(sub, "--symmetrise")) refuse("--symmetrise", "needs --reverse");
  if (command.gold.empty() && command.json) refuse("--json", "needs --gold: it is about the score");
  if (command.gold.empty() && !command.chooses() && command.one_based) {
    refuse("--one-based", "needs --gold or --valid-gold: heed's own links count from 0");
  }
}

void run(const AlignCommand& command, const CLI::App& sub) {
  check_usage(command, sub);
  std::vector<OptionFile> inputs = model_inputs("the model", command.model);
  for (OptionFile& file : model_inputs("--reverse", command.reverse)) inputs.push_back(std::move(file));
  inputs.insert(inputs.end(), {{"--source", command.source},
                               {"--target", command.target},
                               {"--gold", command.gold},
                               {"--valid-source", command.valid_source},
                               {"--valid-target", command.valid_target},
                               {"--valid-gold", command.valid_gold}});
  check_outputs({{"--out", command.out}}, inputs);

  const AlignCorpus corpus = read_corpus(command);
  const Reading reading = open_reading(command);
  // A score is the answer where there is gold: the links are then written only where a file is named.
  const bool prints = command.out.empty() && command.gold.empty();
  AlignmentOutput output(command.out, command.format, prints, command.threshold);
  const std::vector<AlignmentLinks> links = align_corpus(command, corpus, reading, output);
  output.commit();
  if (!command.gold.empty()) print_score(command, reading, score_alignments(links, corpus.gold));
}

template <NamedEnum T>
CLI::Option* add_enum(CLI::App& sub, const std::string& name, T& value, const std::string& doc) {
  std::vector<std::string> names;
  for (const auto& [one, unused] : enum_names(T{})) names.emplace_back(one);
  return sub
      .add_option_function<std::string>(
          name, [&value](const std::string& text) { enum_from_name(text, value); }, doc)
      ->check(CLI::IsMember(names))
      ->default_str(std::string(enum_name(value)));
}

}  // namespace

void add_align_command(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("align", "Align the words of a parallel corpus by what a model that translates attends to.");
  auto command = std::make_shared<AlignCommand>();
  sub->add_option("model", command->model, "The model's folder.")->required();
  sub->add_option("--source", command->source, "Sentences, one a line.")->required();
  sub->add_option("--target", command->target, "Their translations.")->required();
  sub->add_option("--out", command->out, "Write the alignments here; otherwise they are printed.");
  sub->add_option("--format", command->format,
                  "links: a line of i-j for each pair, source and target words counted from 0; tsv: a line of pair, "
                  "source word, target word and weight; json: an object a line, with words, links and weights. A full "
                  "stop, comma or the like behind a word is a word.")
      ->check(CLI::IsMember({"links", "tsv", "json"}))
      ->capture_default_str();
  add_number(*sub, "--layer", command->layer,
             "The layer of cross-attention, counted from 0; the last where it is not given.", NumberRange::at_least(0))
      ->group("What is read");
  sub->add_option("--head", command->head,
                  "The head, counted from 0; several, 0,3,5, whose mean counts, also of several layers, 0:5,1:3; mean "
                  "of all.")
      ->capture_default_str()
      ->group("What is read");
  add_enum(*sub, "--step", command->step, "Whose weights align a target token: the step that produces or reads it.")
      ->group("What is read");
  add_number(*sub, "--threshold", command->threshold,
             "Link all words of at least this weight, and list no lesser weights in a tsv; 0: each target word to "
             "the source word of most weight.",
             NumberRange::from(0, 1))
      ->group("What is read");
  add_number(*sub, "--free", command->free,
             "Without --threshold: link a source word that is left free to the target word that gives it most weight, "
             "where that is at least this.",
             NumberRange::from(0, 1))
      ->group("What is read");
  sub->add_flag("--apart", command->apart,
                "Words are linked with words and punctuation with punctuation, which --free leaves alone.")
      ->group("What is read");
  sub->add_flag("--balance", command->balance,
                "Words compete: before they are linked, weights are divided by the sums of source and of target words "
                "in turn.")
      ->group("What is read");
  sub->add_option("--reverse", command->reverse, "A model of the other direction, whose links join the first's.")
      ->group("Both directions");
  std::vector<std::string> ways;
  for (const auto& [name, how] : kSymmetrisationNames) ways.emplace_back(name);
  ways.emplace_back(kAgreement);
  sub->add_option("--symmetrise", command->symmetrise,
                  "How two models become one alignment: from the links of each, or, by agreement, from the product of "
                  "their weights.")
      ->check(CLI::IsMember(ways))
      ->capture_default_str()
      ->group("Both directions");
  sub->add_option("--gold", command->gold,
                  "Gold alignments, i-j or ipj where only possible: print precision, recall and AER.")
      ->group("Gold");
  sub->add_option("--valid-source", command->valid_source, "Validation text, on which heads, step and rule are chosen.")
      ->group("Gold");
  sub->add_option("--valid-target", command->valid_target, "Its translation.")->group("Gold");
  sub->add_option("--valid-gold", command->valid_gold, "Its gold alignments.")->group("Gold");
  sub->add_flag("--one-based", command->one_based, "Words count from 1 in gold, not from 0.")->group("Gold");
  sub->add_flag("--json", command->json, "Print the score as JSON, with all that was tried.")->group("Gold");
  sub->footer(
      "Examples:\n  heed align model --source test.de --target test.en --layer 1 --head 0,3 --out test.links\n"
      "  heed align model --source test.de --target test.en --gold test.align \\\n"
      "    --valid-source valid.de --valid-target valid.en --valid-gold valid.align\n"
      "  heed align de-en --reverse en-de --symmetrise grow-diag-final-and --source test.de --target test.en");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
