#include "heed/viz/attention_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "heed/base/blanks.h"
#include "heed/base/check.h"
#include "heed/base/replace_all.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostDescribedRows = 200;
constexpr std::size_t kLongestToken = 80;  // code points; the description repeats tokens

struct KindWords {
  const char* title;
  const char* queries;
  const char* keys;
};

KindWords kind_words(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::encoder:
      return {"Encoder self-attention", "source (queries)", "source (keys)"};
    case AttentionKind::decoder:
      return {"Decoder self-attention", "decoder (queries)", "decoder (keys)"};
    case AttentionKind::cross:
      break;
  }
  return {"Cross-attention", "target (queries)", "source (keys)"};
}

std::vector<std::string> readable(const std::vector<std::string>& tokens) {
  std::vector<std::string> labels;
  for (const std::string& token : tokens) labels.push_back(shorten(readable_token(token), kLongestToken));
  return labels;
}

std::vector<float> one_head(const AttentionTrace::Map& map, Index head) {
  const Index cells = map.queries * map.keys;
  return {map.weights.begin() + head * cells, map.weights.begin() + (head + 1) * cells};
}

std::vector<float> mean_of_heads(const AttentionTrace::Map& map, const std::vector<Index>& heads) {
  const auto cells = static_cast<std::size_t>(map.queries * map.keys);
  std::vector<float> mean(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    double sum = 0;
    for (Index h : heads) sum += map.weights[static_cast<std::size_t>(h) * cells + i];
    mean[i] = static_cast<float>(sum / static_cast<double>(heads.size()));
  }
  return mean;
}

std::string heads_text(const AttentionTrace::Map& map, const HeadChoice& choice) {
  const std::vector<Index> heads = choice.of(map.heads);
  if (map.heads == 1) return "one head";
  if (heads.size() == 1) return fmt::format("head {} of {}", heads.front(), map.heads);
  const bool all = static_cast<Index>(heads.size()) == map.heads;
  if (all) return fmt::format("{} {} heads", choice.mean ? "mean of" : "all", map.heads);
  return fmt::format("{}heads {}", choice.mean ? "mean of " : "", fmt::join(heads, ", "));
}

std::string title_of(const AttentionTrace::Map& map, const AttentionPictureOptions& options) {
  return fmt::format("{} · layer {} · {}", kind_words(map.kind).title, map.layer, heads_text(map, options.heads));
}

// "das reads most of the (0.91)": the picture in words.
std::string describe_rows(const Heatmap& map) {
  if (map.panels.size() > 1) return fmt::format("{} heat maps, one for each head.", map.panels.size());
  std::string text = "Where each row's token looks most:";
  const std::size_t columns = map.column_labels.size();
  const std::size_t rows = std::min<std::size_t>(map.row_labels.size(), kMostDescribedRows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto begin = map.panels[0].values.begin() + static_cast<std::ptrdiff_t>(r * columns);
    const auto most = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(columns));
    text += fmt::format("{} {}: {} ({:.2f})", r == 0 ? "" : ";", map.row_labels[r],
                        map.column_labels[static_cast<std::size_t>(most - begin)], *most);
  }
  return text + (rows < map.row_labels.size() ? "; and more rows." : ".");
}

void check_shape(const AttentionTrace& trace, const AttentionTrace::Map& map, const AttentionPictureOptions& options) {
  const std::string name = visible_text(map.path);
  const Index queries = trace.query_side(map.kind).size();
  const Index keys = trace.key_side(map.kind).size();
  HEED_CHECK(map.queries == queries && map.keys == keys,
             "draw_attention: {}: the map must be {} queries x {} keys, one for each token, but is {} x {}", name,
             queries, keys, map.queries, map.keys);
  HEED_CHECK(queries >= 1 && keys >= 1 && map.heads >= 1 && map.heads <= kMaxTraceHeads,
             "draw_attention: {}: must have a head, a query and a key, and at most {} heads, but is {} x {} x {}", name,
             kMaxTraceHeads, map.heads, queries, keys);
  HEED_CHECK(static_cast<Index>(map.weights.size()) == map.heads * queries * keys,
             "draw_attention: {}: {} x {} x {} must have {} weights, but there are {}", name, map.heads, queries, keys,
             map.heads * queries * keys, map.weights.size());
  HEED_CHECK(options.scale_end >= 0 && options.scale_end <= std::numeric_limits<float>::max(),
             "draw_attention: scale_end must be a finite number that is not negative, but is {}", options.scale_end);
}

}  // namespace

std::string readable_token(std::string_view token) { return replace_all(visible_text(token), kSpaceMark, "_"); }

Heatmap attention_heatmap(const AttentionTrace& trace, const AttentionTrace::Map& map,
                          const AttentionPictureOptions& options) {
  check_shape(trace, map, options);
  const std::vector<Index> heads = options.heads.of(map.heads);
  const KindWords words = kind_words(map.kind);
  Heatmap heatmap;
  heatmap.style = options.style;
  heatmap.title = title_of(map, options);
  heatmap.subtitle = trace.model.empty() ? map.path : map.path + " · " + trace.model;
  heatmap.row_title = words.queries;
  heatmap.column_title = words.keys;
  heatmap.row_labels = readable(trace.query_side(map.kind).tokens);
  heatmap.column_labels = readable(trace.key_side(map.kind).tokens);
  if (options.heads.mean) {
    heatmap.panels.push_back(
        {heads.size() == 1 ? fmt::format("head {}", heads.front()) : "mean", mean_of_heads(map, heads)});
  } else {
    for (Index h : heads) heatmap.panels.push_back({fmt::format("head {}", h), one_head(map, h)});
  }
  double most = 0;
  for (const Heatmap::Panel& panel : heatmap.panels) {
    most = std::max<double>(most, *std::max_element(panel.values.begin(), panel.values.end()));
  }
  heatmap.most = options.scale_end > 0 ? options.scale_end : round_scale(most);
  heatmap.description = describe_rows(heatmap);
  return heatmap;
}

}  // namespace heed
