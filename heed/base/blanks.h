// Words between blanks.
//
//   for (std::string_view word : split_at_blanks("der  Hund\n")) ...   // "der", "Hund"
#pragma once

#include <string_view>
#include <vector>

namespace heed {

inline constexpr std::string_view kBlanks = " \t\r\n";
// What SentencePiece, and others after it, write for a space in a piece: U+2581.
inline constexpr std::string_view kSpaceMark = "\u2581";

// The runs of other characters than kBlanks, as parts of `text`.
std::vector<std::string_view> split_at_blanks(std::string_view text);

}  // namespace heed
