#include "heed/viz/heatmap_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "heed/io/npz.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

Json row_json(std::span<const float> values) {
  if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return Json::array_of(values);
  Json row = Json::array();
  for (float value : values) row.append(std::isfinite(value) ? Json(value) : Json());
  return row;
}

// Everything but the panels.
Json labels_json(const Heatmap& map) {
  return Json::object({{"title", map.title},
                       {"row_title", map.row_title},
                       {"column_title", map.column_title},
                       {"rows", Json::array_of(std::span<const std::string>(map.row_labels))},
                       {"columns", Json::array_of(std::span<const std::string>(map.column_labels))}});
}

}  // namespace

std::string heatmap_csv(const Heatmap& map) {
  check_heatmap(map);
  std::string text = "panel,row,row_label,column,column_label,value\r\n";
  const std::size_t columns = map.column_labels.size();
  for (const Heatmap::Panel& panel : map.panels) {
    for (std::size_t i = 0; i < panel.values.size(); ++i) {
      const std::size_t row = i / columns, column = i % columns;
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\r\n", csv_field(panel.title), row,
                     csv_field(map.row_labels[row]), column, csv_field(map.column_labels[column]), panel.values[i]);
    }
  }
  return text;
}

Json heatmap_json(const Heatmap& map) {
  check_heatmap(map);
  Json panels = Json::array();
  const std::size_t columns = map.column_labels.size();
  for (const Heatmap::Panel& panel : map.panels) {
    Json rows = Json::array();
    for (std::size_t r = 0; r < map.row_labels.size(); ++r) {
      rows.append(row_json(std::span(panel.values).subspan(r * columns, columns)));
    }
    panels.append(Json::object({{"title", panel.title}, {"values", rows}}));
  }
  Json json = labels_json(map);
  json.set("panels", panels);
  return json;
}

void write_heatmap_npz(const std::filesystem::path& path, const Heatmap& map) {
  check_heatmap(map);
  std::vector<float> values;
  std::vector<std::string> titles;
  for (const Heatmap::Panel& panel : map.panels) {
    values.insert(values.end(), panel.values.begin(), panel.values.end());
    titles.push_back(panel.title);
  }
  Json labels = labels_json(map);
  labels.set("panels", Json::array_of(std::span<const std::string>(titles)));
  NpzWriter writer;
  writer.add("values", make_view(values.data(),
                                 {std::ssize(map.panels), std::ssize(map.row_labels), std::ssize(map.column_labels)}));
  writer.add_text("labels.json", labels.dump(2));
  writer.save(path);
}

}  // namespace heed
