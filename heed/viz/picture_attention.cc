#include "heed/viz/picture_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "heed/base/check.h"
#include "heed/image/resize.h"
#include "heed/io/base64.h"
#include "heed/viz/figure_title.h"
#include "heed/viz/find_word.h"

namespace heed {
namespace {

constexpr double kTile = 224;  // points, in a figure for a screen with labels of 11 points
constexpr Index kTilesInARow = 4, kMostPixelsOfASide = 672;
constexpr double kLeastTile = 8;  // times the labels' size, on paper
constexpr double kShare = 0.72;   // of the map's colour in a pixel

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

// Tiles in rows, below the title.
struct TileLayout {
  FigureTitle title{};
  TextStyle label{};
  Index across = 0;
  double width = 0, height = 0;  // of the figure
  double side = 0, gap = 0;      // of the square that a tile's picture fits in; between two of them
  double row = 0;                // the height of a row
  Box picture(Index tile, const Image& image) const {
    const double scale = side / static_cast<double>(std::max(image.height, image.width));
    return {title.left + static_cast<double>(tile % across) * (side + gap),
            title.top + title.height + 1.5 * label.size + static_cast<double>(tile / across) * row,
            static_cast<double>(image.width) * scale, static_cast<double>(image.height) * scale};
  }
};

TileLayout lay_tiles(Index count, const Image& image, const std::string& title, const FigureStyle& style) {
  const double size = style.size(), margins = 2 * style.margin();
  TileLayout layout{.label = style.text(0.9), .across = std::min(count, kTilesInARow)};
  layout.gap = (style.for_paper() ? 0.9 : 1.45) * size;
  const auto side = [&] {
    const auto across = static_cast<double>(layout.across);
    return style.for_paper() ? (style.width - margins - (across - 1) * layout.gap) / across : kTile * size / 11;
  };
  while (style.for_paper() && layout.across > 1 && side() < kLeastTile * size) --layout.across;
  layout.side = side();
  const auto across = static_cast<double>(layout.across);
  layout.width = margins + across * layout.side + (across - 1) * layout.gap;
  layout.title = lay_title(title, "", style, layout.width - margins);
  if (layout.title.height > 0) layout.title.height += 0.4 * size;
  const Box first = layout.picture(0, image);
  layout.row = first.height + 1.5 * layout.label.size + layout.gap;
  const auto down = static_cast<double>(ceil_div(count, layout.across));
  layout.height = first.y + (down - 1) * layout.row + first.height + style.margin();
  return layout;
}

// The mean over some heads and queries.
std::vector<double> mean_weights(const AttentionTrace::Map& map, const TraceSide& side, std::span<const Index> heads,
                                 std::span<const Index> queries) {
  const auto [rows, columns] = *side.grid;
  std::vector<double> weights(static_cast<std::size_t>(rows * columns));
  for (Index key = 0; key < map.keys; ++key) {
    const Index patch = side.words[static_cast<std::size_t>(key)];
    if (patch < 0) continue;
    double sum = 0;
    for (Index query : queries)
      for (Index head : heads) sum += double{map.weight(head, query, key)};
    weights[static_cast<std::size_t>(patch)] = sum / static_cast<double>(heads.size() * queries.size());
  }
  return weights;
}

}  // namespace

std::vector<PatchMap> patch_maps(const AttentionTrace& trace, const AttentionTrace::Map& map, const HeadChoice& choice,
                                 std::span<const Index> queries) {
  const TraceSide& side = trace.key_side(map.kind);
  HEED_CHECK(side.grid && map.kind != AttentionKind::decoder, "patch_maps: the trace is not of a picture's patches");
  HEED_CHECK(!queries.empty(), "patch_maps: there must be a query");
  for (Index query : queries) {
    HEED_CHECK(query >= 0 && query < map.queries, "patch_maps: there is no query {}: there are {}", query, map.queries);
  }
  const std::vector<Index> heads = choice.of(map.heads);
  std::vector<PatchMap> maps;
  const auto add = [&](std::span<const Index> of, const std::string& title) {
    maps.push_back({fmt::format("layer {} · {}", map.layer, title), side.grid->rows, side.grid->columns,
                    mean_weights(map, side, of, queries)});
  };
  if (choice.mean && heads.size() > 1) {
    const bool all = std::ssize(heads) == map.heads;
    add(heads,
        all ? fmt::format("mean of {} heads", map.heads) : fmt::format("mean of heads {}", fmt::join(heads, ", ")));
  } else {
    for (Index head : heads) add({&head, 1}, fmt::format("head {}", head));
  }
  return maps;
}

std::vector<PatchMap> word_patch_maps(const AttentionTrace& trace, const AttentionTrace::Map& map,
                                      const HeadChoice& heads) {
  const std::vector<TraceWord> words = trace_words(trace.target);
  check_count(std::ssize(words));
  std::vector<PatchMap> maps;
  for (const TraceWord& word : words) {
    const auto first = static_cast<std::size_t>(word.tokens.front());
    if (!trace.target.words.empty() && trace.target.words[first] < 0) continue;
    std::vector<PatchMap> of_word = patch_maps(trace, map, heads, word.tokens);
    HEED_CHECK(of_word.size() == 1, "the words of a caption are drawn of one head or of a mean: choose one of them");
    of_word.front().title = word.text;
    maps.push_back(std::move(of_word.front()));
  }
  return maps;
}

Image trace_image(const AttentionTrace& trace) {
  const std::size_t comma = trace.image.find(',');
  HEED_CHECK(comma != std::string::npos, "trace_image: the trace has no picture");
  return parse_image(base64_bytes(std::string_view(trace.image).substr(comma + 1), "trace.image"), "trace.image");
}

Picture draw_picture_attention(const Image& image, std::span<const PatchMap> maps, const std::string& title,
                               const FigureStyle& style) {
  HEED_CHECK(image.height >= 1 && image.width >= 1, "draw_picture_attention: the picture has no pixels");
  check_count(std::ssize(maps));
  check_style(style);
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
  if (style.title && !style.title->empty()) picture.title = *style.title;
  const TileLayout layout = lay_tiles(std::ssize(*tiles), shown, style.title.value_or(title), style);
  picture.width = layout.width, picture.height = layout.height;
  picture.pixels_per_inch = style.pixels_per_inch();
  picture.paint = [tiles, layout](Canvas& canvas) {
    layout.title.paint(canvas);
    for (Index i = 0; i < std::ssize(*tiles); ++i) {
      const Tile& tile = (*tiles)[static_cast<std::size_t>(i)];
      const Box place = layout.picture(i, tile.image);
      canvas.text({place.x, place.y - 0.5 * layout.label.size}, fit_text(tile.title, layout.label, layout.side),
                  layout.label);
      canvas.image(place, tile.image);
    }
  };
  return picture;
}

}  // namespace heed
