// heed explain
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "commands.h"
#include "heed/base/error.h"
#include "heed/tasks/explain/array_problem.h"
#include "heed/tasks/explain/attention_walk.h"
#include "heed/tasks/explain/explanation_picture.h"
#include "heed/tasks/explain/explanation_text.h"
#include "heed/tasks/explain/worked_examples.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "output_files.h"

namespace heed::cli {
namespace {

struct ExplainCommand {
  std::string example = "attention";
  std::optional<std::string> q, k, v, mask, picture;
  Index heads = 1, length = 10, width = 8;
  std::optional<double> scale;
  int digits = 3;
  bool json = false;
};

// An option that would be ignored is a mistake.
void refuse_where_it_means_nothing(const ExplainCommand& command, const CLI::App& sub) {
  const auto refuse = [&](const char* option, bool meaningful, const char* where) {
    if (was_given(sub, option) && !meaningful) throw CLI::ValidationError(option, std::string("goes with ") + where);
  };
  const bool attention = command.example == "attention";
  for (const char* option : {"--mask", "--scale"})
    refuse(option, attention, "the attention example or --q, --k and --v");
  for (const char* option : {"--length", "--width"})
    refuse(option, command.example == "positions", "--example positions");
}

Explanation attention_walk(const ExplainCommand& command) {
  AttentionInputs problem = two_by_two_inputs();
  if (command.q) {
    problem = read_attention_inputs({.q = *command.q, .k = *command.k, .v = *command.v, .heads = command.heads});
  }
  problem.scale = command.scale;
  problem.causal = command.mask == "causal";
  if (command.mask && !problem.causal) read_mask(*command.mask, problem);
  return explain_attention(problem);
}

Explanation chosen_walk(const ExplainCommand& command) {
  if (command.example == "thinking-machines") return explain_thinking_machines();
  if (command.example == "bahdanau") return explain_bahdanau();
  if (command.example == "luong") return explain_luong();
  if (command.example == "positions") return explain_positions(command.length, command.width);
  return attention_walk(command);
}

void run(const ExplainCommand& command, const CLI::App& sub) {
  refuse_where_it_means_nothing(command, sub);
  check_outputs({{"--picture", command.picture.value_or("")}}, {{"--q", command.q.value_or("")},
                                                                {"--k", command.k.value_or("")},
                                                                {"--v", command.v.value_or("")},
                                                                {"--mask", command.mask.value_or("")}});
  const Explanation walk = chosen_walk(command);
  if (command.picture) save_picture(draw_explanation(walk), *command.picture);
  if (command.json) return print_line(to_json(walk).dump(2));
  print(to_text(walk, command.digits));
}

// An ending that no picture has is wrong usage, known before anything is computed.
std::string check_picture_name(const std::string& path) {
  try {
    picture_format(path);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

void add_explain_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("explain", "Compute attention step by step, on numbers that are printed.");
  auto command = std::make_shared<ExplainCommand>();
  CLI::Option* example =
      sub->add_option("--example", command->example, "The numbers to explain with.")
          ->check(CLI::IsMember({"attention", "thinking-machines", "bahdanau", "luong", "positions"}))
          ->capture_default_str();
  CLI::Option* q = sub->add_option("--q", command->q, "Your queries: .npy, [L, D], [H, L, D] or [B, H, L, D].");
  CLI::Option* k = sub->add_option("--k", command->k, "Your keys, as wide as the queries.");
  CLI::Option* v = sub->add_option("--v", command->v, "Your values, one for each key.");
  q->needs(k)->needs(v)->excludes(example);
  k->needs(q)->needs(v);
  v->needs(q)->needs(k);
  sub->add_option("--mask", command->mask,
                  "causal, or a .npy file: boolean [Lq, Lk], true where a query may attend to a key.");
  constexpr NumberRange kSizes = NumberRange::from(1, 1024);
  add_number(*sub, "--heads", command->heads, "Split your matrices [L, heads * D] into this many heads.", kSizes)
      ->needs(q);
  add_number(*sub, "--scale", command->scale, "What the scores are multiplied by; 1 / sqrt(D) where it is not given.");
  add_number(*sub, "--length", command->length, "Positions of --example positions.", kSizes);
  add_number(*sub, "--width", command->width, "Their dimensions.", kSizes);
  add_number(*sub, "--digits", command->digits, "Decimals to print.", NumberRange::from(0, 15));
  sub->add_flag("--json", command->json, "Print one JSON object, with unrounded numbers; null stands for -inf.");
  sub->add_option("--picture", command->picture, "Draw the weights (or the positions) too: .svg, .png or .pdf.")
      ->check(check_picture_name);
  sub->footer(
      "Examples:\n  heed explain --mask causal\n  heed explain --example positions --length 50 --width 128 --picture "
      "positions.png\n  heed explain --q q.npy --k k.npy --v v.npy --heads 2 --json");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
