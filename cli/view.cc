// heed view
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "figure_output.h"
#include "heed/base/check.h"
#include "heed/io/fields.h"
#include "heed/observe/trace_file.h"
#include "heed/tasks/picture_classifier.h"
#include "heed/viz/attention_picture.h"
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
  std::string head = "mean", kind;
  PageOptions page;
  std::optional<Index> layer, sentence;
};

bool is_page(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending == ".html" || ending == ".htm";
}

// --- What to draw ----------------------------------------------------------------------------------------------------

const AttentionTrace& chosen_trace(const ViewCommand& command, const std::vector<AttentionTrace>& traces) {
  const auto count = static_cast<Index>(traces.size());
  HEED_CHECK(count > 0, "{}: holds no trace", command.from);
  if (!command.sentence) {
    HEED_CHECK(
        count == 1,
        "{}: a picture shows one sentence, and there are {}: choose one with --sentence, or write a page (.html)",
        command.out, count);
    return traces.front();
  }
  HEED_CHECK(*command.sentence >= 1 && *command.sentence <= count, "--sentence: there are sentences 1 to {}, and no {}",
             count, *command.sentence);
  return traces[static_cast<std::size_t>(*command.sentence - 1)];
}

// The kind that was asked for; otherwise cross-attention, or the decoder's where nothing has a source.
AttentionKind chosen_kind(const ViewCommand& command, const AttentionTrace& trace) {
  AttentionKind kind = trace.source.tokens.empty() ? AttentionKind::decoder : AttentionKind::cross;
  if (!command.kind.empty()) enum_from_name(command.kind, kind);
  return kind;
}

// The layer that was asked for, or the last of the kind.
const AttentionTrace::Map& chosen_map(const ViewCommand& command, const AttentionTrace& trace) {
  const AttentionKind kind = chosen_kind(command, trace);
  const AttentionTrace::Map* chosen = nullptr;
  std::string layers;
  for (const AttentionTrace::Map& map : trace.maps) {
    if (map.kind != kind) continue;
    layers += (layers.empty() ? "" : ", ") + std::to_string(map.layer);
    if (!command.layer || map.layer == command.layer) chosen = &map;
  }
  HEED_CHECK(!layers.empty(), "--kind: the model has no {} attention", enum_name(kind));
  HEED_CHECK(chosen != nullptr, "--layer: there is no {} layer {}; there are: {}", enum_name(kind), *command.layer,
             layers);
  return *chosen;
}

Index read_head(const std::string& text) { return read_number<Index>("--head", text, NumberRange::at_least(0)); }

AttentionPictureOptions picture_options(const ViewCommand& command) {
  if (command.head == "mean") return {.heads = HeadChoice::mean};
  if (command.head == "all") return {.heads = HeadChoice::grid};
  return {.heads = HeadChoice::one, .head = read_head(command.head)};
}

// What a model that sees attends to in a picture.
void draw_image(const ViewCommand& command) {
  const AttentionPictureOptions options = picture_options(command);
  const Image image = read_image(command.image);
  const PictureClassifier classifier(command.viewed.model);
  const std::vector<PatchMap> maps =
      classifier.attention(image, {.layer = command.layer, .heads = options.heads, .head = options.head});
  std::string title = "Attention to the patches of a picture";
  if (classifier.has_classes()) {
    const Classified classified = classifier.classify(image);
    const auto likeliest = static_cast<std::size_t>(classified.likeliest());
    title = fmt::format("{} · {:.0f} %", classifier.labels()[likeliest], 100 * classified.probabilities[likeliest]);
  }
  save_figure(draw_picture_attention(image, maps, title), command.out);
}

void draw(const ViewCommand& command, const std::vector<AttentionTrace>& traces) {
  if (is_page(command.out)) return write_attention_page(command.out, traces, command.page);
  const AttentionTrace& trace = chosen_trace(command, traces);
  save_figure(draw_attention(trace, chosen_map(command, trace), picture_options(command)), command.out);
}

// --- The command -----------------------------------------------------------------------------------------------------

void check_usage(const ViewCommand& command, const CLI::App& sub) {
  const auto refuse = [](const char* option, const std::string& rule) { throw CLI::ValidationError(option, rule); };
  if (command.out.empty() && command.trace.empty()) throw CLI::RequiredError("One of --out and --trace");
  if (command.viewed.model.empty() == command.from.empty()) throw CLI::RequiredError("One of a model and --from");
  if (!command.image.empty()) {
    for (const char* option :
         {"--text", "--input", "--target", "--beam", "--trace", "--long-lines", "--from", "--kind", "--sentence"}) {
      if (was_given(sub, option)) refuse(option, "means nothing with --image");
    }
    if (is_page(command.out)) refuse("--out", "must be a picture where --image is given: .svg, .png or .pdf");
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
  if (command.out.empty() || is_page(command.out)) {
    for (const char* option : {"--layer", "--head", "--kind", "--sentence"}) {
      if (was_given(sub, option)) refuse(option, "is for pictures: a page shows everything");
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
  if (!command.image.empty()) return draw_image(command);
  const Views views = command.from.empty() ? make_views(command.viewed, sub) : Views{read_traces(command.from), {}};
  if (!command.trace.empty()) write_traces(command.trace, views.traces);
  if (!command.out.empty()) draw(command, views.traces);
  for (const std::string& translation : views.translations) print_line(translation);
}

std::string check_out(const std::string& path) {
  if (is_page(path)) return {};
  try {
    picture_format(path);
    return {};
  } catch (const Error&) {
    return "must end in .svg, .png, .pdf or .html, but is " + path;
  }
}

std::string check_head(const std::string& text) {
  if (text == "mean" || text == "all") return {};
  try {
    read_head(text);
    return {};
  } catch (const CLI::ValidationError&) {
    return "must be mean, all or an integer from 0 up, but is " + text;
  }
}

}  // namespace

void add_view_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("view", "Draw what a model attends to while it translates, or reads a text.");
  auto command = std::make_shared<ViewCommand>();
  sub->add_option("model", command->viewed.model, "The model's folder.");
  CLI::Option* text = sub->add_option("--text", command->viewed.text,
                                      "The sentence to translate; for a language model, the text that it reads.");
  sub->add_option("--input", command->viewed.input, "Sentences, one a line; - is standard input.")->excludes(text);
  sub->add_option("--target", command->viewed.target, "Look at this translation of --text instead of the model's own.")
      ->needs(text);
  add_number(*sub, "--beam", command->viewed.beam.beam, "Hypotheses that the search keeps.",
             NumberRange::from(1, kWidestBeam));
  add_long_lines(*sub, command->viewed.long_lines);
  sub->add_option("--image", command->image,
                  "A PNG or JPEG file, for a model that sees: what its class is told by, drawn over it.");
  sub->add_option("--from", command->from, "Draw the traces of this file, without a model.");
  sub->add_option("--out", command->out,
                  "A picture (.svg, .png, .pdf) of one layer of one sentence, or a page (.html) to look around in "
                  "all sentences, layers and heads.")
      ->check(check_out);
  sub->add_option("--trace", command->trace, "Write the traces to this file too, as JSON, for --from or for programs.");
  sub->add_option("--kind", command->kind, "What attends to what: cross (target to source), encoder or decoder.")
      ->check(CLI::IsMember({"cross", "encoder", "decoder"}))
      ->default_str("cross, or decoder in a language model");
  add_number(*sub, "--layer", command->layer, "The layer, counted from 0; the last of its kind where it is not given.",
             NumberRange::at_least(0));
  sub->add_option("--head", command->head, "The head, counted from 0; mean of all; or all, side by side.")
      ->check(check_head)
      ->capture_default_str();
  add_number(*sub, "--sentence", command->sentence,
             "Which of several sentences to draw, counted from 1 without blank lines.", NumberRange::at_least(1));
  sub->add_option("--language", command->page.language, "The page's language to begin with: en or zh.")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  sub->add_flag("--fragment", command->page.fragment,
                "A piece of HTML to put into a page of one's own, instead of a page.");
  sub->footer(
      "Examples:\n  heed view model --text 'Das Wetter ist heute gut.' --out map.svg\n"
      "  heed view model --input test.de --out attention.html --trace trace.json\n"
      "  heed view --from trace.json --sentence 3 --head all --out heads.png\n"
      "  heed view vit-base-patch16-224 --image cat.jpg --out cat.svg");
  sub->callback([command, sub] { run(*command, *sub); });
}

}  // namespace heed::cli
