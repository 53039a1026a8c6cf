// What of a trace is drawn, and how the figure is set: options of commands that draw.
//
//   add_figure_options(*sub, command->figure);
//   save_figure(draw_figure(trace, map, figure_of(command.figure)), path);
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/viz/attention_figure.h"

namespace heed::cli {

struct FigureOptions {
  std::string kind, head;
  std::optional<Index> layer, sentence;
  bool lines = false;
  std::optional<std::string> word;
  std::string width, font;
  double font_size = 0;
  std::optional<std::string> title;
};

// Options of what is drawn of a trace: --kind, --layer, --head, --sentence, --lines, --word.
void add_choice_options(CLI::App& sub, FigureOptions& options);
// Options of how it is set: --width, --font, --font-size, --title.
void add_style_options(CLI::App& sub, FigureOptions& options);
// The names of all of them.
std::vector<const char*> choice_option_names();
std::vector<const char*> style_option_names();

FigureStyle figure_style(const FigureOptions& options);
// Of the mean of all heads where none was asked for, or of all, each by itself, for --word.
AttentionFigure figure_of(const FigureOptions& options);

}  // namespace heed::cli
