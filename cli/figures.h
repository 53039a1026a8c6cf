// Figures of traces as files, their numbers, and figures in the terminal.
//
//   files = figure_files(command.figure, std::ssize(traces), "trace.json", "map.svg");  // of several: map-1.svg, ...
//   check_outputs(files, inputs);
//   write_figures(command.figure, traces, files);
#pragma once

#include <string>
#include <vector>

#include "figure_options.h"
#include "heed/observe/trace.h"
#include "heed/viz/heatmap.h"
#include "output_files.h"

namespace heed::cli {

// Whether the name is that of a page: .html or .htm.
bool is_page(const std::string& path);

// Whether something can be drawn under this name: a picture (.svg, .png, .pdf), numbers (.csv, .json, .npz), or - for
// the terminal.
bool is_figure(const std::string& path);

// Whether it is numbers or the terminal, which know no width and no font.
bool is_unstyled(const std::string& path);

// Draws the heat map, in the terminal for "-", or writes its numbers, as the path's ending asks.
void write_heatmap(Heatmap shown, const std::string& path);

// The files of the figures of so many traces: `path` for the sentence that was chosen and for the only one, else one of
// each sentence's number, or the terminal again and again. Throws heed::Error where there is no such sentence, or none;
// `from` names where they come from.
std::vector<OptionFile> figure_files(const FigureOptions& options, Index traces, const std::string& from,
                                     const std::string& path);

// Draws into these files. Throws heed::Error for a choice that the traces do not have.
void write_figures(const FigureOptions& options, const std::vector<AttentionTrace>& traces,
                   const std::vector<OptionFile>& files);

}  // namespace heed::cli
