#include "figures.h"

#include <fmt/format.h>

#include <filesystem>

#include "figure_output.h"
#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/base/name_ending.h"
#include "heed/io/fields.h"
#include "heed/viz/attention_figure.h"
#include "heed/viz/attention_picture.h"
#include "heed/viz/find_word.h"
#include "heed/viz/heatmap_numbers.h"
#include "heed/viz/reading_picture.h"
#include "output.h"
#include "terminal.h"

namespace heed::cli {
namespace {

// The kind that was asked for; otherwise cross-attention, or what there is without a source or a decoder.
AttentionKind chosen_kind(const FigureOptions& options, const AttentionTrace& trace) {
  AttentionKind kind = AttentionKind::cross;
  if (trace.source.tokens.empty()) kind = AttentionKind::decoder;
  if (trace.target.tokens.empty()) kind = AttentionKind::encoder;
  if (!options.kind.empty()) enum_from_name(options.kind, kind);
  return kind;
}

// The layer that was asked for, or the last of the kind.
const AttentionTrace::Map& chosen_map(const FigureOptions& options, const AttentionTrace& trace) {
  const AttentionKind kind = chosen_kind(options, trace);
  const AttentionTrace::Map* chosen = nullptr;
  std::string layers;
  for (const AttentionTrace::Map& map : trace.maps) {
    if (map.kind != kind) continue;
    layers += (layers.empty() ? "" : ", ") + std::to_string(map.layer);
    if (!options.layer || map.layer == options.layer) chosen = &map;
  }
  HEED_CHECK(!layers.empty(), "--kind: the model has no {} attention", enum_name(kind));
  HEED_CHECK(chosen != nullptr, "--layer: there is no {} layer {}; there are: {}", enum_name(kind), *options.layer,
             layers);
  return *chosen;
}

void write_figure(const FigureOptions& options, const AttentionTrace& trace, const std::string& path) {
  const AttentionTrace::Map& map = chosen_map(options, trace);
  const AttentionFigure figure = figure_of(options);
  if (!is_unstyled(path)) return save_figure(draw_figure(trace, map, figure), path);
  Heatmap shown = attention_heatmap(trace, map, {.heads = figure.heads, .style = figure.style});
  if (options.word) shown = reading_of(std::move(shown), find_word(trace.query_side(map.kind), *options.word));
  write_heatmap(std::move(shown), path);
}

// "map.svg" of the third sentence: "map-3.svg".
std::string numbered(const std::string& path, Index number) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format("{}-{}{}", whole.stem().string(), number, whole.extension().string()))
      .string();
}

}  // namespace

void write_heatmap(Heatmap shown, const std::string& path) {
  if (path == "-") {
    print(draw_in_terminal(std::move(shown), terminal_of_output()));
  } else if (name_ending(path) == ".csv") {
    write_file(path, heatmap_csv(shown));
  } else if (name_ending(path) == ".json") {
    write_json(path, heatmap_json(shown));
  } else if (name_ending(path) == ".npz") {
    write_heatmap_npz(path, shown);
  } else {
    save_figure(draw_heatmap(std::move(shown)), path);
  }
}

bool is_unstyled(const std::string& path) {
  return path == "-" || name_ending(path) == ".csv" || name_ending(path) == ".json" || name_ending(path) == ".npz";
}

bool is_page(const std::string& path) {
  const std::string ending = name_ending(path);
  return ending == ".html" || ending == ".htm";
}

bool is_figure(const std::string& path) {
  if (is_unstyled(path)) return true;
  try {
    picture_format(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<OptionFile> figure_files(const FigureOptions& options, Index traces, const std::string& from,
                                     const std::string& path) {
  HEED_CHECK(traces > 0, "{}: holds no trace", from);
  HEED_CHECK(!options.sentence || (*options.sentence >= 1 && *options.sentence <= traces),
             "--sentence: there are sentences 1 to {}, and no {}", traces, *options.sentence);
  if (options.sentence || traces == 1) return {{"--out", path}};
  std::vector<OptionFile> files;
  for (Index i = 1; i <= traces; ++i) files.push_back({"--out", path == "-" ? path : numbered(path, i)});
  return files;
}

void write_figures(const FigureOptions& options, const std::vector<AttentionTrace>& traces,
                   const std::vector<OptionFile>& files) {
  const std::size_t first = options.sentence ? static_cast<std::size_t>(*options.sentence - 1) : 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = files[i].path.string();
    if (path == "-" && i > 0) print("\n");
    write_figure(options, traces[first + i], path);
  }
}

}  // namespace heed::cli
