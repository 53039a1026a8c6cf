// heed explain
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "figure_output.h"
#include "figures.h"
#include "heed/base/error.h"
#include "heed/base/name_ending.h"
#include "heed/tasks/explain/attention_inputs.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/explanation_picture.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/worked_examples.h"
#include "heed/viz/page.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "output_files.h"
#include "walk_page.h"

namespace heed::cli {
namespace {

// An array that an option gives, and where it goes.
struct ArrayOption {
  const char* name;
  NamedArray AttentionArrays::*place;
  const char* doc;
};

constexpr ArrayOption kArrays[] = {
    {"--q", &AttentionArrays::q, "Your queries, [L, D], [H, L, D] or [B, H, L, D]: a list of lists, or a file."},
    {"--k", &AttentionArrays::k, "Your keys, as wide as the queries."},
    {"--v", &AttentionArrays::v, "Your values, one for each key."},
    {"--x", &AttentionArrays::x, "Your rows X [L, E], one for each word, instead of --q, --k and --v."},
    {"--memory", &AttentionArrays::memory, "Rows [M, E'] that keys and values are made of: cross-attention."},
    {"--w-q", &AttentionArrays::w_q, "W_Q [E, heads * D]: Q = X W_Q."},
    {"--w-k", &AttentionArrays::w_k, "W_K [E, heads * D]."},
    {"--w-v", &AttentionArrays::w_v, "W_V [E, heads * Dv]."},
    {"--w-o", &AttentionArrays::w_o, "W_O [heads * Dv, any width], after the heads; none where it is not given."},
    {"--v-a", &AttentionArrays::additive_vector, "The vector of the additive score, [D]."},
};

constexpr const char* kOwnNumbers = "attention";  // the example whose numbers may be a reader's own

struct ExplainCommand {
  std::string example = kOwnNumbers, attention, language = "en";
  std::optional<std::string> arrays[std::size(kArrays)], mask;
  std::vector<std::string> labels, key_labels, out;
  Index heads = 1, key_heads = 0, length = 10, width = 8;
  std::optional<double> scale;
  int digits = 3;
  bool json = false;
};

bool is_json(const std::string& path) { return name_ending(path) == ".json"; }

// An option that would be ignored is a mistake.
void refuse_where_it_means_nothing(const ExplainCommand& command, const CLI::App& sub) {
  const auto refuse = [&](const char* option, bool meaningful, const char* where) {
    if (was_given(sub, option) && !meaningful) throw CLI::ValidationError(option, std::string("goes with ") + where);
  };
  const bool attention = command.example == kOwnNumbers, rows = was_given(sub, "--x");
  const bool own = rows || was_given(sub, "--q");
  for (const char* option : {"--mask", "--scale", "--attention", "--labels", "--key-labels", "--v-a"})
    refuse(option, attention, "the attention example or arrays of your own");
  for (const char* option : {"--heads", "--kv-heads"}) refuse(option, own, "arrays of your own: --q or --x");
  for (const char* option : {"--memory", "--w-q", "--w-k", "--w-v", "--w-o"}) refuse(option, rows, "--x");
  for (const char* option : {"--length", "--width"})
    refuse(option, command.example == "positions", "--example positions");
  if (std::none_of(command.out.begin(), command.out.end(), is_page)) return;
  for (const char* option : {"--x", "--attention", "--scale", "--labels", "--key-labels"})
    refuse(option, false, "text, .json and pictures: a page walks through softmax(Q K^T / sqrt(d_k)) V");
  refuse("--mask", command.mask == "causal", "a page where it is causal");
}

AttentionChoice choice_named(const std::string& text) {
  try {
    return AttentionChoice(text);
  } catch (const Error& error) {
    throw CLI::ValidationError("--attention", error.what());
  }
}

// What another option gives must have a place in the score.
void check_beside(const AttentionChoice& choice, const CLI::App& sub) {
  const auto is_score = [](const AttentionChoice::Chosen& c) { return c.term->role == AttentionTerm::Role::score; };
  const auto score = std::ranges::find_if(choice.terms(), is_score);
  const bool named = score != choice.terms().end();
  if (was_given(sub, "--v-a") && !(named && score->term->name == "additive")) {
    throw CLI::ValidationError("--v-a", "goes with --attention additive");
  }
  if (!named || !was_given(sub, "--scale")) return;
  for (std::size_t i = 0; i < score->numbers.size(); ++i) {
    const AttentionTerm::Number& number = score->term->numbers[i];
    if (number.name == "scale" && score->numbers[i] != number.value) {
      throw CLI::ValidationError("--scale", "is in --attention already");
    }
  }
}

AttentionInputs attention_problem(const ExplainCommand& command, const CLI::App& sub) {
  AttentionArrays arrays{.heads = command.heads, .key_heads = command.key_heads};
  for (std::size_t i = 0; i < std::size(kArrays); ++i) {
    if (command.arrays[i]) arrays.*kArrays[i].place = read_array(kArrays[i].name, *command.arrays[i]);
  }
  const bool causal = command.mask == "causal";
  if (command.mask && !causal) arrays.mask = read_array("--mask", *command.mask);
  AttentionInputs problem = attention_inputs(arrays);
  problem.scale = command.scale;
  problem.causal = causal;
  if (!command.attention.empty()) problem.attention = choice_named(command.attention);
  check_beside(problem.attention, sub);
  problem.query_labels = command.labels, problem.key_labels = command.key_labels;
  return problem;
}

// What a page opens with.
std::string page_address(const ExplainCommand& command, const std::optional<AttentionInputs>& problem) {
  if (command.example == "positions") return positions_address(command.length, command.width);
  return problem ? walk_address(*problem) : walk_address(command.example);
}

void run(const ExplainCommand& command, const CLI::App& sub) {
  refuse_where_it_means_nothing(command, sub);
  std::vector<OptionFile> outputs, inputs{{"--mask", command.mask.value_or("")}};
  for (const std::string& path : command.out) outputs.push_back({"--out", path});
  for (std::size_t i = 0; i < std::size(kArrays); ++i) {
    inputs.push_back({kArrays[i].name, command.arrays[i].value_or("")});
  }
  check_outputs(outputs, inputs);
  const Language language = language_named(command.language);
  std::optional<AttentionInputs> problem;
  if (command.example == kOwnNumbers) problem = attention_problem(command, sub);
  const Explanation walk = problem ? explain_attention(*problem, language)
                                   : explain_example(command.example, {command.length, command.width}, language);
  const bool has_page = std::any_of(command.out.begin(), command.out.end(), is_page);
  const std::string address = has_page ? page_address(command, problem) : "";  // before anything is written
  for (const std::string& path : command.out) {
    if (is_json(path)) {
      write_json(path, to_json(walk));
    } else if (is_page(path)) {
      write_teaching_page(path, {.language = command.language, .opens = address});
    } else {
      save_figure(draw_explanation(walk), path);
    }
  }
  if (command.json) return print_line(to_json(walk).dump(2));
  print(to_text(walk, command.digits));
}

// An ending that nothing here has is wrong usage, known before anything is computed.
std::string check_output_name(const std::string& path) {
  if (is_json(path) || is_page(path)) return {};
  try {
    picture_format(path);
    return {};
  } catch (const Error&) {
    return shown(path) + " must end in .html, .json, .svg, .png or .pdf";
  }
}

void add_array_options(CLI::App& sub, const std::shared_ptr<ExplainCommand>& command, CLI::Option* example) {
  CLI::Option* options[std::size(kArrays)];
  for (std::size_t i = 0; i < std::size(kArrays); ++i) {
    options[i] = sub.add_option(kArrays[i].name, command->arrays[i], kArrays[i].doc);
  }
  CLI::Option *q = options[0], *k = options[1], *v = options[2], *x = options[3];
  q->needs(k)->needs(v)->excludes(example)->excludes(x);
  k->needs(q)->needs(v);
  v->needs(q)->needs(k);
  x->needs(options[5])->needs(options[6])->needs(options[7])->excludes(example);
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("explain", "Compute attention step by step, on numbers that are printed.");
  auto command = std::make_shared<ExplainCommand>();
  std::vector<std::string> names{kOwnNumbers};
  for (const WorkedExample& worked : worked_examples()) names.emplace_back(worked.name);
  CLI::Option* example = sub->add_option("--example", command->example, "The numbers to explain with.")
                             ->check(CLI::IsMember(names))
                             ->capture_default_str();
  add_array_options(*sub, command, example);
  sub->add_option("--mask", command->mask,
                  "causal, or an array [Lq, Lk] (or [1, Lk]): true or 1 where a query may attend to a key.");
  sub->add_option("--attention", command->attention,
                  "Score, bias, masks and normaliser, such as 'cosine + window(1) + sparsemax': the terms of "
                  "docs/attention.md.");
  sub->add_option("--labels", command->labels, "Names of the queries, and of as many keys: I,am,here.")->delimiter(',');
  sub->add_option("--key-labels", command->key_labels, "Names of the keys.")->delimiter(',');
  constexpr NumberRange kSizes = NumberRange::from(1, 1024);
  add_number(*sub, "--heads", command->heads, "Cut your matrices [L, heads * D] into this many heads.", kSizes);
  add_number<Index>(
      *sub, "--kv-heads", [command](Index heads) { command->key_heads = heads; },
      "Cut keys and values into fewer heads, which the queries' share.", kSizes);
  add_number(*sub, "--scale", command->scale, "What the scores are multiplied by; 1 / sqrt(D) where it is not given.");
  add_number(*sub, "--length", command->length, "Positions of --example positions.", kSizes);
  add_number(*sub, "--width", command->width, "Their dimensions.", kSizes);
  add_number(*sub, "--digits", command->digits, "Decimals to print.", NumberRange::from(0, 15));
  sub->add_option("--language", command->language, "en or zh: the language of the words.")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  sub->add_flag("--json", command->json, "Print one JSON object, with unrounded numbers; null stands for -inf.");
  sub->add_option("--out", command->out,
                  "Write a file, too: a page to click through, on which every number can be changed (.html), the "
                  "numbers for programs (.json, as --json), or a picture of the weights or positions (.svg, .png, "
                  ".pdf). May be given several times.")
      ->check(check_output_name);
  sub->footer(
      "An array is a list of lists, or a file: NumPy's .npy, JSON, or rows of numbers.\n\nExamples:\n"
      "  heed explain --example thinking-machines\n"
      "  heed explain --mask causal --language zh\n"
      "  heed explain --example luong --out luong.html\n"
      "  heed explain --q '[[1, 0], [0, 1]]' --k keys.txt --v values.npy --attention 'cosine + sparsemax'\n"
      "  heed explain --x rows.txt --w-q wq.txt --w-k wk.txt --w-v wv.txt --heads 2 --labels I,am,here --out "
      "walk.json\n"
      "  heed explain --example positions --length 50 --width 128 --out positions.png");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
