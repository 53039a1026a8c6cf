// The numbers behind a picture, for spreadsheets and programs.
//
//   write_file("map.csv", heatmap_csv(attention_heatmap(trace, map, {.heads = {.mean = false}})));
#pragma once

#include <filesystem>
#include <string>

#include "heed/io/json.h"
#include "heed/viz/heatmap.h"

namespace heed {

// A line for each cell, in UTF-8, as RFC 4180 has it: panel,row,row_label,column,column_label,value. Rows and columns
// are counted from 0; a label with a comma, a quote or a line's end is quoted. Values keep their bits. Throws
// heed::Error as draw_heatmap does, here and below.
std::string heatmap_csv(const Heatmap& map);

// {"title", "row_title", "column_title", "rows": [labels], "columns": [labels], "panels": [{"title", "values": [[...],
// ...]}]}; null for what is infinite or no number.
Json heatmap_json(const Heatmap& map);

// The file as numpy's .npz: "values" [panels, rows, columns] of f32, and "labels.json": heatmap_json without the
// values, each panel's title in their place. Replaces it, whole or not at all.
//
//   values = numpy.load("map.npz")["values"]
//   labels = json.loads(numpy.load("map.npz")["labels.json"])
void write_heatmap_npz(const std::filesystem::path& path, const Heatmap& map);

}  // namespace heed
