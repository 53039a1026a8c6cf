#include "heed/viz/terminal_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/unicode/text_width.h"
#include "heed/unicode/unicode.h"
#include "heed/viz/heatmap_layout.h"
#include "heed/viz/visible_text.h"

namespace heed {
namespace {

constexpr Index kMostLabel = 24, kMostOnEnd = 12, kNarrowCell = 2, kWidestCell = 12, kScaleCells = 25;

// --- Text of a width -------------------------------------------------------------------------------------------------

// The longest beginning that takes no more columns, ended by "…" where something is lost.
std::string cut(const std::string& text, Index columns) {
  if (text_columns(text) <= columns) return text;
  std::string kept;
  for (std::string_view character : code_points(text)) {
    if (text_columns(kept) + text_columns(character) + 1 > columns) break;
    kept += character;
  }
  return kept + "…";
}

std::string spaces(Index count) { return std::string(static_cast<std::size_t>(std::max<Index>(count, 0)), ' '); }

std::string right_aligned(const std::string& text, Index columns) {
  return spaces(columns - text_columns(text)) + text;
}

std::string left_aligned(const std::string& text, Index columns) { return text + spaces(columns - text_columns(text)); }

// Whether each character stands by itself: not in scripts that join, stack or run from the right.
bool stands_on_end(const std::string& text) {
  bool stands = true;
  for_each_code_point(text, [&stands](char32_t c, std::string_view character) {
    const bool latin_greek_cyrillic = c < 0x0530, symbol = c >= 0x2000 && c < 0x2E80;
    stands = stands && !is_nonspacing_mark(c) && (latin_greek_cyrillic || symbol || text_columns(character) == 2);
  });
  return stands;
}

// --- Cells -----------------------------------------------------------------------------------------------------------

// Of the cube of 6 x 6 x 6 colours and the 24 greys from 16 on, the nearest one.
int palette_index(const Colour& colour) {
  const auto cube_part = [](int level) { return level == 0 ? 0.0 : (55 + 40 * level) / 255.0; };
  int best = 16;
  double least = 1e9;
  const auto consider = [&](int index, const Colour& known) {
    const double distance = colour_distance(colour, known);
    if (distance < least) least = distance, best = index;
  };
  for (int i = 0; i < 216; ++i) consider(16 + i, {cube_part(i / 36), cube_part(i / 6 % 6), cube_part(i % 6)});
  for (int i = 0; i < 24; ++i) consider(232 + i, {(8 + 10 * i) / 255.0, (8 + 10 * i) / 255.0, (8 + 10 * i) / 255.0});
  return best;
}

// The sequences that begin a ground. A scale has some hundred colours, and a map millions of cells.
class Grounds {
 public:
  explicit Grounds(TerminalColours colours) : colours_(colours) {}

  const std::string& of(const Colour& colour) {
    const auto byte = [](double part) { return static_cast<int>(std::lround(255 * std::clamp(part, 0.0, 1.0))); };
    const std::array parts{byte(colour.red), byte(colour.green), byte(colour.blue)};
    const auto [known, is_new] = sequences_.try_emplace(parts);
    if (is_new) {
      known->second = colours_ == TerminalColours::palette
                          ? fmt::format("\x1b[48;5;{}m", palette_index(colour))
                          : fmt::format("\x1b[48;2;{};{};{}m", parts[0], parts[1], parts[2]);
    }
    return known->second;
  }

 private:
  TerminalColours colours_;
  std::map<std::array<int, 3>, std::string> sequences_;
};

constexpr std::array<const char*, 5> kBlocks = {" ", "░", "▒", "▓", "█"};
constexpr std::string_view kCharacters = " .:-=+*#%@";

// The character for a value without colours; a question mark for what is no number.
std::string shade(const Heatmap& map, double value, bool blocks) {
  const double share = scale_share(map, value);
  if (std::isnan(share)) return "?";
  const auto of = [share](std::size_t count) {
    return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
  };
  return blocks ? kBlocks[of(kBlocks.size())] : std::string(1, kCharacters[of(kCharacters.size())]);
}

std::string cell(const Heatmap& map, double value, Index columns, const Terminal& terminal, Grounds& grounds) {
  if (terminal.colours != TerminalColours::none) {
    return grounds.of(cell_colour(map, value)) + spaces(columns) + "\x1b[0m";
  }
  std::string text;
  for (Index i = 0; i < columns; ++i) text += shade(map, value, terminal.blocks);
  return text;
}

// --- Everything ------------------------------------------------------------------------------------------------------

struct Page {
  Heatmap map;
  Terminal terminal;
  Index label = 0;  // columns of the rows' labels, and one between them and the cells
  Index cell = kNarrowCell;
  bool on_end = false;              // column labels, or their numbers, run downwards
  bool numbers = false;             // they stand for labels that a list explains
  std::vector<std::string> tops{};  // what stands above each column
};

Page make_page(Heatmap map, const Terminal& terminal) {
  Page page{.map = std::move(map), .terminal = terminal};
  const Index columns = std::max<Index>(terminal.columns, 16);
  for (const std::string& label : page.map.row_labels) page.label = std::max(page.label, text_columns(label));
  page.label = std::min({page.label, kMostLabel, columns / 3});
  Index widest = 0;
  bool stand = true;
  for (const std::string& label : page.map.column_labels) {
    widest = std::max(widest, text_columns(label));
    stand = stand && stands_on_end(label);
  }
  const auto count = static_cast<Index>(page.map.column_labels.size());
  if (widest + 1 <= kWidestCell && page.label + 1 + count * (widest + 1) <= columns) {
    page.cell = std::max(widest + 1, kNarrowCell);
    page.tops = page.map.column_labels;
    return page;
  }
  page.on_end = true;
  page.numbers = !stand;
  for (Index i = 0; i < count; ++i) {
    page.tops.push_back(page.numbers ? std::to_string(i + 1)
                                     : cut(page.map.column_labels[static_cast<std::size_t>(i)], kMostOnEnd));
  }
  return page;
}

// The labels above the cells [begin, end): on one line, or downwards, ending at the cells.
std::string tops_of(const Page& page, std::size_t begin, std::size_t end) {
  std::string text;
  if (!page.on_end) {
    text = spaces(page.label + 1);
    for (std::size_t c = begin; c < end; ++c) text += left_aligned(page.tops[c], page.cell);
    return text + "\n";
  }
  std::size_t lines = 0;
  std::vector<std::vector<std::string_view>> letters;
  for (std::size_t c = begin; c < end; ++c) {
    letters.push_back(code_points(page.tops[c]));
    lines = std::max(lines, letters.back().size());
  }
  for (std::size_t line = 0; line < lines; ++line) {
    text += spaces(page.label + 1);
    for (const auto& label : letters) {
      const std::size_t above = lines - label.size();
      text += left_aligned(line < above ? "" : std::string(label[line - above]), page.cell);
    }
    text += "\n";
  }
  return text;
}

std::string without_spaces_at_ends_of_lines(const std::string& text) {
  std::string kept;
  for (char c : text) {
    if (c == '\n') kept.erase(kept.find_last_not_of(' ') + 1);
    kept += c;
  }
  return kept;
}

std::string band(const Page& page, const Heatmap::Panel& panel, std::size_t begin, std::size_t end, Grounds& grounds) {
  std::string text = without_spaces_at_ends_of_lines(tops_of(page, begin, end));
  const std::size_t columns = page.map.column_labels.size();
  for (std::size_t r = 0; r < page.map.row_labels.size(); ++r) {
    text += right_aligned(cut(page.map.row_labels[r], page.label), page.label) + " ";
    for (std::size_t c = begin; c < end; ++c) {
      text += cell(page.map, panel.values[r * columns + c], page.cell, page.terminal, grounds);
    }
    text += "\n";
  }
  return page.terminal.colours == TerminalColours::none ? without_spaces_at_ends_of_lines(text) : text;
}

// "1 the  2 animal  ...", broken before the terminal's edge.
std::string list_of_columns(const Page& page) {
  std::string text, line;
  for (std::size_t c = 0; c < page.tops.size(); ++c) {
    const std::string entry = fmt::format("{} {}", page.tops[c], cut(page.map.column_labels[c], kMostLabel));
    if (!line.empty() && text_columns(line) + 2 + text_columns(entry) > page.terminal.columns) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "  ") + entry;
  }
  return text + line + "\n";
}

std::string scale(const Page& page, Grounds& grounds) {
  std::string text = fmt::format("{:.3g} ", page.map.least);
  for (Index i = 0; i < kScaleCells; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(kScaleCells);
    text += cell(page.map, page.map.least + share * (page.map.most - page.map.least), 1, page.terminal, grounds);
  }
  return text + fmt::format(" {:.3g}\n", page.map.most);
}

}  // namespace

std::string draw_in_terminal(Heatmap map, const Terminal& terminal) {
  check_heatmap(map);
  for (auto* labels : {&map.row_labels, &map.column_labels}) {
    for (std::string& label : *labels) label = visible_text(label);
  }
  const Page page = make_page(std::move(map), terminal);
  Grounds grounds(terminal.colours);
  std::string text;
  const std::optional<std::string>& other = page.map.style.title;
  for (const std::string& title : {other.value_or(page.map.title), other ? "" : page.map.subtitle}) {
    if (!title.empty()) text += cut(visible_text(title), terminal.columns) + "\n";
  }
  const auto room = static_cast<std::size_t>(
      std::max<Index>(1, (std::max<Index>(terminal.columns, 16) - page.label - 1) / page.cell));
  for (const Heatmap::Panel& panel : page.map.panels) {
    text += "\n";
    if (page.map.panels.size() > 1) text += visible_text(panel.title) + "\n";
    for (std::size_t begin = 0; begin < page.tops.size(); begin += room) {
      if (begin > 0) text += "\n";
      text += band(page, panel, begin, std::min(begin + room, page.tops.size()), grounds);
    }
  }
  if (page.numbers) text += "\n" + list_of_columns(page);
  return page.map.scale ? text + "\n" + scale(page, grounds) : text;
}

}  // namespace heed
