// heed view
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "figure_options.h"
#include "figure_output.h"
#include "figures.h"
#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/layers/positions.h"
#include "heed/observe/trace_file.h"
#include "heed/tasks/caption_score.h"
#include "heed/tasks/mask_picture.h"
#include "heed/tasks/picture_classifier.h"
#include "heed/tasks/pretrained_folder.h"
#include "heed/viz/matrix_picture.h"
#include "heed/viz/page.h"
#include "long_lines.h"
#include "numbers.h"
#include "option_names.h"
#include "output.h"
#include "output_files.h"
#include "views.h"

namespace heed::cli {
namespace {

struct ViewCommand {
  ViewedText viewed;
  std::string from, out, trace, image;
  FigureOptions figure;
  PageOptions page;
  std::string mask;
  bool positions = false;
  Index length = 32, dimensions = 64;
};

bool is_page(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".html" || ending == ".htm";
}

// --- What to draw ----------------------------------------------------------------------------------------------------

// Where a model that tells what a picture shows looks at each word.
void draw_caption(const ViewCommand& command, const Image& image) {
  const HeadChoice heads = head_choice(command.figure);
  HEED_CHECK(heads.mean ? heads.chosen.empty() : heads.chosen.size() == 1,
             "--head: a caption's words are drawn of one head or of their mean");
  const ModelFolder folder = load_model_folder(command.viewed.model);
  const std::vector<int> ids = command.viewed.target
                                   ? folder.target_ids(*command.viewed.target)
                                   : Captioner(folder).caption({&image, 1}, command.viewed.beam).front().front().tokens;
  const AttentionTrace trace = trace_caption(folder, image, ids);
  CaptionLook look{.layer = command.figure.layer};
  if (!heads.mean) look.head = heads.chosen.front();
  save_figure(draw_picture_attention(image, maps_of_words(folder, trace, look), trace.target.text), command.out);
  print_line(trace.target.text);
}

// What a model that sees attends to in a picture.
void draw_image(const ViewCommand& command) {
  const Image image = read_image(command.image);
  if (!is_pretrained(command.viewed.model)) return draw_caption(command, image);
  HEED_CHECK(!command.viewed.target, "--target: the model tells a picture's class, and writes no caption");
  const PictureClassifier classifier(command.viewed.model);
  const std::vector<PatchMap> maps =
      classifier.attention(image, {.layer = command.figure.layer, .heads = head_choice(command.figure)});
  std::string title = "Attention to the patches of a picture";
  if (classifier.has_classes()) {
    const Classified classified = classifier.classify(image);
    const auto likeliest = static_cast<std::size_t>(classified.likeliest());
    title = fmt::format("{} · {:.0f} %", classifier.labels()[likeliest], 100 * classified.probabilities[likeliest]);
  }
  save_figure(draw_picture_attention(image, maps, title), command.out);
}

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
  meaningless.insert(meaningless.end(), {"--text", "--input", "--target", "--beam", "--trace", "--long-lines",
                                         "--image", "--from", "--language", "--fragment"});
  if (!command.positions) meaningless.push_back("--dimensions");
  for (const char* option : meaningless) {
    if (was_given(sub, option)) refuse(option, "means nothing with --mask and --positions");
  }
  if (!command.viewed.model.empty()) refuse("--mask and --positions", "need no model");
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
  if (command.viewed.model.empty() == command.from.empty()) throw CLI::RequiredError("One of a model and --from");
  if (command.viewed.target && !command.viewed.text && command.image.empty()) {
    refuse("--target", "needs --text or --image");
  }
  if (!command.image.empty()) {
    for (const char* option :
         {"--text", "--input", "--trace", "--long-lines", "--from", "--kind", "--sentence", "--lines", "--word"}) {
      if (was_given(sub, option)) refuse(option, "means nothing with --image");
    }
    for (const char* option : style_option_names()) {
      if (was_given(sub, option)) refuse(option, "means nothing with --image");
    }
    if (is_page(command.out) || is_unstyled(command.out)) {
      refuse("--out", "must be a picture where --image is given: .svg, .png or .pdf");
    }
    return;
  }
  if (!command.from.empty()) {
    for (const char* option : {"--text", "--input", "--target", "--beam", "--trace", "--long-lines"}) {
      if (was_given(sub, option)) refuse(option, "means nothing with --from");
    }
  } else if (command.viewed.text.has_value() == !command.viewed.input.empty()) {
    throw CLI::RequiredError("One of --text and --input");
  }
  if (command.viewed.target && was_given(sub, "--long-lines")) refuse("--long-lines", "means nothing with --target");
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
  std::vector<OptionFile> inputs = model_inputs("the model", command.viewed.model);
  inputs.insert(inputs.end(),
                {{"--input", command.viewed.input}, {"--from", command.from}, {"--image", command.image}});
  check_outputs({{"--trace", command.trace}, {"--out", command.out}}, inputs);
  if (without_model(command)) return write_heatmap(drawn_without_model(command), command.out);
  if (!command.image.empty()) return draw_image(command);
  const Views views = command.from.empty() ? make_views(command.viewed, sub) : Views{read_traces(command.from), {}};
  if (!command.trace.empty()) write_traces(command.trace, views.traces);
  if (is_page(command.out)) {
    write_attention_page(command.out, views.traces, command.page);
  } else if (!command.out.empty()) {
    write_figures(command.figure, views.traces, command.from, command.out, inputs);
  }
  for (const std::string& translation : views.translations) print_line(translation);
}

std::string check_out(const std::string& path) {
  if (is_page(path) || is_figure(path)) return {};
  return "must be a page (.html), a picture (.svg, .png, .pdf), numbers (.csv, .json) or - for the terminal, but is " +
         path;
}

}  // namespace

void add_view_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("view", "Draw what a model attends to while it translates, or reads a text.");
  auto command = std::make_shared<ViewCommand>();
  sub->add_option("model", command->viewed.model, "The model's folder.");
  CLI::Option* text = sub->add_option("--text", command->viewed.text,
                                      "The sentence to translate; for a language model, the text that it reads.");
  sub->add_option("--input", command->viewed.input, "Sentences, one a line; - is standard input.")->excludes(text);
  sub->add_option("--target", command->viewed.target,
                  "Look at this translation of --text, or caption of --image, instead of the model's own.");
  add_number(*sub, "--beam", command->viewed.beam.beam, "Hypotheses that the search keeps.",
             NumberRange::from(1, kWidestBeam));
  add_long_lines(*sub, command->viewed.long_lines);
  sub->add_option(
      "--image", command->image,
      "A PNG or JPEG file, for a model that sees: what its class is told by, or where it looks at each word "
      "of its caption, drawn over it.");
  sub->add_option("--from", command->from, "Draw the traces of this file, without a model.");
  sub->add_option("--out", command->out,
                  "A page (.html) to look around in all sentences, layers and heads; a picture (.svg, .png, .pdf) of "
                  "one layer of a sentence; its numbers (.csv, .json); or - to draw it in the terminal.")
      ->check(check_out);
  sub->add_option("--trace", command->trace, "Write the traces to this file too, as JSON, for --from or for programs.");
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
      "  heed view --from trace.json --sentence 3 --head all --out heads.png\n"
      "  heed view --from trace.json --word it --kind encoder --width 8cm --title none --out it.pdf\n"
      "  heed view --from trace.json --out -\n"
      "  heed view --mask 'causal + window(4)' --length 24 --out mask.svg\n"
      "  heed view vit-base-patch16-224 --image cat.jpg --out cat.svg");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
