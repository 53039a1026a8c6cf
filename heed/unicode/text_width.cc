#include "heed/unicode/text_width.h"

#include <utf8proc.h>

#include "heed/unicode/unicode.h"

namespace heed {
namespace {

Index columns_of(char32_t c) { return utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)); }

bool opens(char32_t c) { return std::u32string_view(U"([{“‘《〈（【「『〔").find(c) != std::u32string_view::npos; }

bool closes(char32_t c) {
  return std::u32string_view(U")]},.;:!?%”’…—·》〉）】」』〕，。；：、！？％").find(c) != std::u32string_view::npos;
}

// Whether a line may end between two characters that no space parts.
bool may_part(char32_t before, char32_t after) {
  return (columns_of(before) == 2 || columns_of(after) == 2) && !opens(before) && !closes(after);
}

// Text that no line breaks, and the spaces before it.
struct Unit {
  std::string_view text;
  Index columns = 0;
  Index spaces = 0;
};

std::vector<Unit> units_of(std::string_view paragraph) {
  std::vector<Unit> units;
  char32_t before = U' ';
  Index spaces = 0;
  for_each_code_point(paragraph, [&](char32_t c, std::string_view bytes) {
    if (c == U' ') {
      ++spaces;
    } else {
      if (before == U' ' || may_part(before, c)) units.push_back({bytes.substr(0, 0), 0, spaces});
      Unit& unit = units.back();
      unit.text = {unit.text.data(), unit.text.size() + bytes.size()};
      unit.columns += columns_of(c);
      spaces = 0;
    }
    before = c;
  });
  return units;
}

}  // namespace

Index text_columns(std::string_view text) {
  Index columns = 0;
  for_each_code_point(text, [&](char32_t c, std::string_view) { columns += columns_of(c); });
  return columns;
}

std::vector<std::string> wrap_text(std::string_view paragraph, Index columns) {
  std::vector<std::string> lines;
  Index used = 0;
  for (const Unit& unit : units_of(paragraph)) {
    if (lines.empty() || used + unit.spaces + unit.columns > columns) {
      lines.emplace_back(unit.text);
      used = unit.columns;
      continue;
    }
    lines.back().append(static_cast<std::size_t>(unit.spaces), ' ').append(unit.text);
    used += unit.spaces + unit.columns;
  }
  return lines;
}

}  // namespace heed
