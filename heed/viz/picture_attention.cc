#include "heed/viz/picture_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "heed/base/check.h"
#include "heed/image/resize.h"
#include "heed/io/base64.h"
#include "heed/viz/find_word.h"

namespace heed {
namespace {

constexpr double kTile = 224, kGap = 16, kLabel = 18, kTitle = 30;  // points
constexpr Index kTilesInARow = 4, kMostPixelsOfASide = 672;
constexpr double kShare = 0.72;  // of the map's colour in a pixel

void check_count(Index maps) {
  HEED_CHECK(maps <= kMostPatchMaps, "draw_picture_attention: there must be at most {} maps, but there are {}",
             kMostPatchMaps, maps);
}

void check_map(const PatchMap& map) {
  HEED_CHECK(map.rows >= 1 && map.columns >= 1 && std::ssize(map.weights) == map.rows * map.columns,
             "draw_picture_attention: {} weights are not those of {} x {} patches", map.weights.size(), map.columns,
             map.rows);
  HEED_CHECK(std::ranges::all_of(map.weights, [](double w) { return std::isfinite(w) && w >= 0; }),
             "draw_picture_attention: weights must be finite and not negative");
}

// The map between the middles of patches, at a place in [0, 1] of the picture's height and width.
double weight_at(const PatchMap& map, double down, double across) {
  const auto between = [](double place, Index count) {
    const double at = std::clamp(place * static_cast<double>(count) - 0.5, 0.0, static_cast<double>(count - 1));
    const auto first = static_cast<Index>(at);
    return std::pair(first, at - static_cast<double>(first));
  };
  const auto [row, down_share] = between(down, map.rows);
  const auto [column, across_share] = between(across, map.columns);
  const auto at = [&map](Index r, Index c) {
    return map
        .weights[static_cast<std::size_t>(std::min(r, map.rows - 1) * map.columns + std::min(c, map.columns - 1))];
  };
  const double above = at(row, column) * (1 - across_share) + at(row, column + 1) * across_share;
  const double below = at(row + 1, column) * (1 - across_share) + at(row + 1, column + 1) * across_share;
  return above * (1 - down_share) + below * down_share;
}

Image under_map(const Image& image, const PatchMap& map, double largest) {
  Image made = image;
  for (Index y = 0; y < image.height; ++y) {
    for (Index x = 0; x < image.width; ++x) {
      const double weight = weight_at(map, (static_cast<double>(y) + 0.5) / static_cast<double>(image.height),
                                      (static_cast<double>(x) + 0.5) / static_cast<double>(image.width));
      const Colour colour = sequential_colour(largest > 0 ? weight / largest : 0, Theme::dark);
      std::uint8_t* pixel = made.pixels.data() + (y * image.width + x) * 3;
      const double grey = (0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]) / 255;
      int part = 0;
      for (double of_map : {colour.red, colour.green, colour.blue}) {
        pixel[part++] = static_cast<std::uint8_t>(std::lround(255 * (kShare * of_map + (1 - kShare) * grey)));
      }
    }
  }
  return made;
}

// As many pixels as a file has use for.
Image of_reasonable_size(const Image& image) {
  const Index longest = std::max(image.height, image.width);
  if (longest <= kMostPixelsOfASide) return image;
  const auto scaled = [&](Index side) { return std::max<Index>(1, side * kMostPixelsOfASide / longest); };
  return resized(image, scaled(image.height), scaled(image.width), Resampling::bilinear);
}

std::string describe_map(const PatchMap& map) {
  const auto most = std::ranges::max_element(map.weights) - map.weights.begin();
  return fmt::format("{}: most at patch {} of {} down, {} of {} across.", map.title, most / map.columns + 1, map.rows,
                     most % map.columns + 1, map.columns);
}

struct Tile {
  std::string title;
  Image image;
};

}  // namespace

PatchMap patch_map(const AttentionTrace& trace, const AttentionTrace::Map& map, std::optional<Index> head,
                   Index query) {
  const TraceSide& side = trace.key_side(map.kind);
  HEED_CHECK(side.grid && map.kind != AttentionKind::decoder, "patch_map: the trace is not of a picture's patches");
  HEED_CHECK(query >= 0 && query < map.queries, "patch_map: there is no query {}: there are {}", query, map.queries);
  HEED_CHECK(!head || (*head >= 0 && *head < map.heads), "there is no head {}: a layer has {}, counted from 0", *head,
             map.heads);
  const auto [rows, columns] = *side.grid;
  PatchMap patches{fmt::format("layer {} · {}", map.layer,
                               head ? fmt::format("head {}", *head) : fmt::format("mean of {} heads", map.heads)),
                   rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  const Index first = head.value_or(0), count = head ? 1 : map.heads;
  for (Index key = 0; key < map.keys; ++key) {
    const Index patch = side.words[static_cast<std::size_t>(key)];
    if (patch < 0) continue;
    double sum = 0;
    for (Index h = first; h < first + count; ++h) sum += double{map.weight(h, query, key)};
    patches.weights[static_cast<std::size_t>(patch)] = sum / static_cast<double>(count);
  }
  return patches;
}

std::vector<PatchMap> word_patch_maps(const AttentionTrace& trace, const AttentionTrace::Map& map,
                                      std::optional<Index> head) {
  const std::vector<TraceWord> words = words_of(trace.target);
  check_count(std::ssize(words));
  std::vector<PatchMap> maps;
  for (const TraceWord& word : words) {
    const auto first = static_cast<std::size_t>(word.tokens.front());
    if (!trace.target.words.empty() && trace.target.words[first] < 0) continue;
    PatchMap& mean = maps.emplace_back(patch_map(trace, map, head, word.tokens.front()));
    mean.title = word.text;
    for (std::size_t i = 1; i < word.tokens.size(); ++i) {
      const PatchMap piece = patch_map(trace, map, head, word.tokens[i]);
      for (std::size_t j = 0; j < mean.weights.size(); ++j) mean.weights[j] += piece.weights[j];
    }
    for (double& weight : mean.weights) weight /= static_cast<double>(word.tokens.size());
  }
  return maps;
}

Image trace_image(const AttentionTrace& trace) {
  const std::size_t comma = trace.image.find(',');
  HEED_CHECK(comma != std::string::npos, "trace_image: the trace has no picture");
  return parse_image(base64_bytes(std::string_view(trace.image).substr(comma + 1), "trace.image"), "trace.image");
}

Picture draw_picture_attention(const Image& image, std::span<const PatchMap> maps, const std::string& title) {
  HEED_CHECK(image.height >= 1 && image.width >= 1, "draw_picture_attention: the picture has no pixels");
  check_count(std::ssize(maps));
  double largest = 0;
  for (const PatchMap& map : maps) {
    check_map(map);
    largest = std::max(largest, *std::ranges::max_element(map.weights));
  }
  const Image shown = of_reasonable_size(image);
  const auto tiles = std::make_shared<std::vector<Tile>>();
  tiles->push_back({"the picture", shown});
  Picture picture{.title = title};
  for (const PatchMap& map : maps) {
    tiles->push_back({map.title, under_map(shown, map, largest)});
    picture.description += (picture.description.empty() ? "" : " ") + describe_map(map);
  }
  const double scale = kTile / static_cast<double>(std::max(shown.height, shown.width));
  const double width = static_cast<double>(shown.width) * scale, height = static_cast<double>(shown.height) * scale;
  const double across = kTile + kGap, down = height + kLabel + kGap;
  const Index count = std::ssize(*tiles), columns = std::min(count, kTilesInARow);
  picture.width = static_cast<double>(columns) * across + kGap;
  picture.height = kTitle + static_cast<double>((count + columns - 1) / columns) * down + kGap;
  picture.paint = [=](Canvas& canvas) {
    const Colour ink{0.1, 0.1, 0.1};
    const TextStyle heading{.size = 13, .bold = true, .colour = ink}, label{.size = 10, .colour = ink};
    canvas.text({kGap, kTitle - 8}, fit_text(title, heading, picture.width - 2 * kGap), heading);
    for (Index i = 0; i < count; ++i) {
      const Tile& tile = (*tiles)[static_cast<std::size_t>(i)];
      const double x = kGap + static_cast<double>(i % columns) * across;
      const double y = kTitle + static_cast<double>(i / columns) * down;
      canvas.text({x, y + 12}, fit_text(tile.title, label, kTile), label);
      canvas.image({x, y + kLabel, width, height}, tile.image);
    }
  };
  return picture;
}

}  // namespace heed
