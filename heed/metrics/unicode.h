// Unicode as the scorers need it: code points, their classes, lower case, and Python's idea of white space. The one
// door to libutf8proc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Decodes well-formed UTF-8. Throws heed::Error naming `name` and the first byte that is wrong.
std::u32string decode_utf8(std::string_view text, std::string_view name);

// Encodes code points that decode_utf8 gave.
std::string encode_utf8(std::u32string_view text);

// The general categories P*, S* and N* (regular expressions: \p{P}, \p{S}, \p{N}).
bool is_punctuation(char32_t c);
bool is_symbol(char32_t c);
bool is_number(char32_t c);

// What Python's str.isspace, str.split and \s call white space: the separators of Unicode, and the control characters
// U+0009 to U+000D, U+001C to U+001F and U+0085. A zero-width space (U+200B) is none.
bool is_space(char32_t c);

// Lower case as Python's str.lower: one code point for each, but "i" and U+0307 for U+0130, and a final sigma (U+03C2)
// for a U+03A3 that ends a word.
std::u32string to_lower(std::u32string_view text);

// Drops the white space at the end.
std::u32string_view strip_right(std::u32string_view text);

// Splits at runs of white space; there are no empty words.
std::vector<std::u32string> split_words(std::u32string_view text);

}  // namespace heed
