// Figures of traces as files, their numbers, and figures in the terminal.
//
//   write_figures(command.figure, traces, "--input", "map.svg", inputs);  // of several sentences: map-1.svg, ...
#pragma once

#include <string>
#include <vector>

#include "figure_options.h"
#include "heed/observe/trace.h"
#include "output_files.h"

namespace heed::cli {

// Whether something can be drawn under this name: a picture (.svg, .png, .pdf), numbers (.csv, .json, .npz), or - for
// the terminal.
bool is_figure(const std::string& path);

// Whether it is numbers or the terminal, which know no width and no font.
bool is_unstyled(const std::string& path);

// Draws the heat map, in the terminal for "-", or writes its numbers, as the path's ending asks.
void write_heatmap(Heatmap shown, const std::string& path);

// Draws the sentence that was chosen, or each into a file of its number where there are several. Nothing is written
// where one of the files is among `inputs`. Throws heed::Error for a choice that the traces do not have; `from` names
// where they come from.
void write_figures(const FigureOptions& options, const std::vector<AttentionTrace>& traces, const std::string& from,
                   const std::string& path, const std::vector<OptionFile>& inputs);

}  // namespace heed::cli
