#include "figure_options.h"

#include <string_view>

#include "heed/viz/fonts.h"
#include "numbers.h"

namespace heed::cli {
namespace {

// "1,3,5"
std::vector<Index> read_heads(std::string_view text) {
  std::vector<Index> heads;
  for (std::string_view item : split_at_commas(text)) {
    heads.push_back(read_number<Index>("--head", item, NumberRange::at_least(0)));
  }
  return heads;
}

std::string check_head(const std::string& text) {
  if (text == "mean" || text == "all") return {};
  try {
    read_heads(text);
    return {};
  } catch (const CLI::ValidationError&) {
    return "must be mean, all, or integers from 0 up with commas between them, but is " + text;
  }
}

std::string check_width(const std::string& text) {
  try {
    check_style({.width = read_length(text)});
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::string check_font(const std::string& text) {
  try {
    check_style({.font = text});
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

HeadChoice head_choice(const FigureOptions& options) {
  const std::string head = !options.head.empty() ? options.head : options.word ? "all" : "mean";
  if (head == "mean") return {};
  if (head == "all") return {.mean = false};
  return {.mean = false, .chosen = read_heads(head)};
}

}  // namespace

void add_choice_options(CLI::App& sub, FigureOptions& options) {
  sub.add_option("--kind", options.kind, "What attends to what: cross (target to source), encoder or decoder.")
      ->check(CLI::IsMember({"cross", "encoder", "decoder"}))
      ->default_str("cross, or decoder in a language model");
  add_number(sub, "--layer", options.layer, "The layer, counted from 0; the last of its kind where it is not given.",
             NumberRange::at_least(0));
  sub.add_option("--head", options.head,
                 "The head, counted from 0, or several: 1,3,5; mean of all; or all, side by side.")
      ->check(check_head)
      ->default_str("mean, or all for --word");
  add_number(sub, "--sentence", options.sentence,
             "Which of several sentences to draw, counted from 1 without blank lines; without it, each has a file of "
             "its number.",
             NumberRange::at_least(1));
  CLI::Option* lines =
      sub.add_flag("--lines", options.lines, "Draw lines from words to words instead of a matrix; heads in colours.");
  sub.add_option("--word", options.word,
                 "Draw what this word reads, in the colours of the heads (all where --head is not given); it:2 for the "
                 "second one.")
      ->excludes(lines);
}

void add_style_options(CLI::App& sub, FigureOptions& options) {
  sub.add_option("--width", options.width,
                 "The picture's width, laid out for it and not shrunk to it: 8cm, 80mm, 3.3in, 240pt.")
      ->check(check_width);
  sub.add_option("--font", options.font, "A font family of this machine, such as 'DejaVu Serif'.")->check(check_font);
  add_number(sub, "--font-size", options.font_size, "Points of the labels; 11, or 8 where --width is given.",
             NumberRange::from(2, 72))
      ->default_str("");
  sub.add_option("--title", options.title, "The title; none leaves titles away.");
}

std::vector<const char*> choice_option_names() {
  return {"--kind", "--layer", "--head", "--sentence", "--lines", "--word"};
}

std::vector<const char*> style_option_names() { return {"--width", "--font", "--font-size", "--title"}; }

FigureStyle figure_style(const FigureOptions& options) {
  FigureStyle style{.font_size = options.font_size, .font = options.font};
  if (!options.width.empty()) style.width = read_length(options.width);
  if (options.title) style.title = *options.title == "none" ? "" : *options.title;
  return style;
}

AttentionFigure figure_of(const FigureOptions& options) {
  return {head_choice(options), options.lines, options.word, figure_style(options)};
}

}  // namespace heed::cli
