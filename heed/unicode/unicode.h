// Unicode as scorers and tokenizers need it: code points, their classes, lower case, and white space as Python and as
// Unicode have it. This room is the one door to libutf8proc.
//
//   for (char32_t c : decode_utf8("Größe 3", "a line")) if (is_number(c)) ...
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

// The general categories L*, M* and Mn.
bool is_letter(char32_t c);
bool is_mark(char32_t c);
bool is_nonspacing_mark(char32_t c);
// Cc, Cf and Co: what is not to be seen. What is not assigned is none of these.
bool is_invisible(char32_t c);
// What Rust's regular expressions call \w: letters and other alphabetic characters, marks, Nd, Pc, and the two joiners.
bool is_word_character(char32_t c);
// Unicode's White_Space: the separators, U+0009 to U+000D and U+0085.
bool is_white_space(char32_t c);

// Calls use(c, bytes) for each code point of well-formed UTF-8, with the part of the text that it is.
template <typename Use>
void for_each_code_point(std::string_view text, const Use& use) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) c = c << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    use(c, text.substr(at, length));
    at += length;
  }
}
// Adds the code point to the text.
void append_utf8(char32_t c, std::string& text);

// Lower case of one code point by itself, as Rust's char::to_lowercase: a sigma is never final. Two code points for
// U+0130, which is told as "i" with the dot in *second; 0 there for all others.
char32_t to_lower(char32_t c, char32_t* second);

// What Python's str.isspace, str.split and \s call white space: the separators of Unicode, and the control characters
// U+0009 to U+000D, U+001C to U+001F and U+0085. A zero-width space (U+200B) is none.
bool is_space(char32_t c);

// Lower case as Python's str.lower: one code point for each, but "i" and U+0307 for U+0130, and a final sigma (U+03C2)
// for a U+03A3 that ends a word.
std::u32string to_lower(std::u32string_view text);

// Upper case of one code point by itself, where that is one.
char32_t to_upper(char32_t c);
// Upper case as Python's str.upper, but for what becomes several code points: of those only U+00DF does ("SS"), and
// others stay as they are.
std::u32string to_upper(std::u32string_view text);

// Drops the white space at the end.
std::u32string_view strip_right(std::u32string_view text);

// Splits at runs of white space; there are no empty words.
std::vector<std::u32string> split_words(std::u32string_view text);

}  // namespace heed
