// Which fonts text is set in.
//
//   if (!has_font("Linux Libertine O")) ...
//   std::string families = font_families("東京", {.font = "Latin Modern Roman"});   // "..., Noto Sans CJK SC, ..."
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/viz/canvas.h"

namespace heed {

// Whether this machine has the family ("DejaVu Serif"), or one of the kinds that it names for itself ("serif"), in
// either case of letters.
bool has_font(std::string_view family);

// The families of a list with commas between them, without the blanks around each; an empty list has none.
std::vector<std::string_view> families_of(std::string_view list);

// The language that characters tell by themselves: "ja" where there are kana, "ko" where there is Hangul, "zh-Hans"
// where there are Chinese characters without either, "ar" for Arabic letters; else "en". The same Chinese character is
// drawn in another form for each of the first three.
std::string guess_language(std::string_view text);

// The style's language, or the guess.
std::string language_of(std::string_view text, const TextStyle& style);

// The language to set labels in that stand together, where characters look otherwise in it than alone: "ja" or "ko";
// else empty, and each label tells by itself.
std::string label_language(const std::vector<std::string>& labels);

// Families in the order in which they are tried for each character, for Pango and CSS alike: the style's own, what
// heed draws with where it has none, and those that have the text's script.
std::string font_families(std::string_view text, const TextStyle& style);

}  // namespace heed
