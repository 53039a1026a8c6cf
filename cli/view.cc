// heed view
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "figure_options.h"
#include "figures.h"
#include "heed/layers/positions.h"
#include "heed/observe/trace_file.h"
#include "heed/tasks/mask_picture.h"
#include "heed/viz/matrix_picture.h"
#include "heed/viz/page.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "output_files.h"
#include "views.h"

namespace heed::cli {
namespace {

struct ViewCommand {
  Viewed viewed;
  std::string out, trace;
  FigureOptions figure;
  PageOptions page;
  std::string mask;
  bool positions = false;
  Index length = 32, dimensions = 64;
};

// --- What to draw ----------------------------------------------------------------------------------------------------

// What no model is needed for.
Heatmap drawn_without_model(const ViewCommand& command) {
  Heatmap shown = command.positions ? positions_heatmap(sinusoidal_positions(command.length, command.dimensions).view(),
                                                        "Sinusoidal positions")
                                    : mask_heatmap(command.mask, command.length);
  shown.style = figure_style(command.figure);
  return shown;
}

// --- The command -----------------------------------------------------------------------------------------------------

void check_style_usage(const ViewCommand& command, const CLI::App& sub) {
  if (!is_unstyled(command.out)) return;
  for (const char* option : style_option_names()) {
    if (was_given(sub, option)) throw CLI::ValidationError(option, "is for pictures: .svg, .png or .pdf");
  }
  if (command.figure.lines) throw CLI::ValidationError("--lines", "is for pictures: .svg, .png or .pdf");
}

bool without_model(const ViewCommand& command) { return command.positions || !command.mask.empty(); }

void check_usage_without_model(const ViewCommand& command, const CLI::App& sub) {
  const auto refuse = [](const char* option, const std::string& rule) { throw CLI::ValidationError(option, rule); };
  std::vector<const char*> meaningless = choice_option_names();
  const std::vector<const char*> of_models = viewed_option_names();
  meaningless.insert(meaningless.end(), of_models.begin(), of_models.end());
  meaningless.insert(meaningless.end(), {"--trace", "--language", "--fragment"});
  if (!command.positions) meaningless.push_back("--dimensions");
  for (const char* option : meaningless) {
    if (was_given(sub, option)) refuse(option, "means nothing with --mask and --positions");
  }
  if (!command.viewed.of.empty()) refuse("--mask and --positions", "need no model");
  if (command.out.empty() || is_page(command.out)) refuse("--out", "must be a picture, numbers or -");
  check_style_usage(command, sub);
}

void check_usage(const ViewCommand& command, const CLI::App& sub) {
  const auto refuse = [](const char* option, const std::string& rule) { throw CLI::ValidationError(option, rule); };
  if (command.out.empty() && command.trace.empty()) throw CLI::RequiredError("One of --out and --trace");
  if (without_model(command)) return check_usage_without_model(command, sub);
  for (const char* option : {"--length", "--dimensions"}) {
    if (was_given(sub, option)) refuse(option, "goes with --mask or --positions");
  }
  check_viewed(command.viewed, sub);
  check_style_usage(command, sub);
  if (command.out.empty() || is_page(command.out)) {
    for (const auto& names : {choice_option_names(), style_option_names()}) {
      for (const char* option : names) {
        if (was_given(sub, option)) refuse(option, "is for pictures: a page shows everything");
      }
    }
  }
  if (!is_page(command.out)) {
    for (const char* option : {"--language", "--fragment"}) {
      if (was_given(sub, option)) refuse(option, "is for pages: --out must end in .html");
    }
  }
}

void run(const ViewCommand& command, const CLI::App& sub) {
  check_usage(command, sub);
  const std::vector<OptionFile> inputs = viewed_files(command.viewed);
  check_outputs({{"--trace", command.trace}, {"--out", command.out}}, inputs);
  if (without_model(command)) return write_heatmap(drawn_without_model(command), command.out);
  const Views views = make_views(command.viewed, is_page(command.out), sub);
  std::vector<OptionFile> figures;
  if (!command.out.empty() && !is_page(command.out)) {
    figures = figure_files(command.figure, std::ssize(views.traces), command.viewed.of, command.out);
    std::vector<OptionFile> outputs{{"--trace", command.trace}};
    if (command.out != "-") outputs.insert(outputs.end(), figures.begin(), figures.end());
    check_outputs(outputs, inputs);
  }
  if (!command.trace.empty()) write_traces(command.trace, views.traces);
  if (is_page(command.out)) write_attention_page(command.out, views.traces, command.page);
  write_figures(command.figure, views.traces, figures);
  for (const std::string& translation : views.translations) print_line(translation);
}

std::string check_out(const std::string& path) {
  if (is_page(path) || is_figure(path)) return {};
  return "must be a page (.html), a picture (.svg, .png, .pdf), numbers (.csv, .json, .npz) or - for the terminal, but "
         "is " +
         path;
}

std::string check_trace(const std::string& path) {
  std::error_code error;
  const auto is_device = [&] {
    return std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  };
  return is_trace_file(path) || is_device() ? "" : "must end in .json or .npz, but is " + path;
}

}  // namespace

void add_view_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("view", "Draw what a model attends to while it translates, reads, sees or hears.");
  auto command = std::make_shared<ViewCommand>();
  add_viewed_options(*sub, command->viewed);
  sub->add_option("--out", command->out,
                  "A page (.html) to look around in all sentences, layers and heads; a picture (.svg, .png, .pdf) of "
                  "one layer of a sentence; its numbers (.csv, .json, .npz); or - to draw it in the terminal.")
      ->check(check_out);
  sub->add_option("--trace", command->trace,
                  "Write the traces to this file too (.json, .npz), to draw them later and for programs.")
      ->check(check_trace);
  CLI::Option* mask = sub->add_option("--mask", command->mask,
                                      "Draw a mask, without a model; several with + between them: " + mask_names() +
                                          ", with numbers as in 'causal + window(4)'.");
  sub->add_flag("--positions", command->positions, "Draw the sinusoids that stand for positions, without a model.")
      ->excludes(mask);
  constexpr NumberRange kSizes = NumberRange::from(1, 1024);
  add_number(*sub, "--length", command->length, "Positions of --mask and --positions.", kSizes);
  add_number(*sub, "--dimensions", command->dimensions, "Dimensions of --positions.", kSizes);
  add_choice_options(*sub, command->figure);
  add_style_options(*sub, command->figure);
  sub->add_option("--language", command->page.language, "The page's language to begin with: en or zh.")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  sub->add_flag("--fragment", command->page.fragment,
                "A piece of HTML to put into a page of one's own, instead of a page.");
  sub->footer(
      "Examples:\n  heed view model --text 'Das Wetter ist heute gut.' --out map.svg\n"
      "  heed view model --input test.de --out attention.html --trace trace.json\n"
      "  heed view trace.json --sentence 3 --head all --out heads.png\n"
      "  heed view trace.json --word it --kind encoder --width 8cm --title none --out it.pdf\n"
      "  heed view trace.json --out -\n"
      "  heed view --mask 'causal + window(4)' --length 24 --out mask.svg\n"
      "  heed view vit-base-patch16-224 --image cat.jpg --out cat.svg");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
