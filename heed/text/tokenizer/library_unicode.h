// What the library of tokenizer.json knows of Unicode. Each of its parts has the version that it was written with:
// punctuation, accents of words and control characters Unicode 8, marks 9, decompositions 11, words 16, numbers and
// lower case 17.
#pragma once

#include <string>
#include <string_view>

#include "heed/unicode/normal_form.h"

namespace heed {

bool is_library_punctuation(char32_t c);
// For StripAccents, and for BertNormalizer's strip_accents.
bool is_library_mark(char32_t c);
bool is_library_nonspacing_mark(char32_t c);
bool is_library_invisible(char32_t c);
bool is_library_number(char32_t c);
bool is_library_word_character(char32_t c);

// As to_lower.
char32_t library_lower(char32_t c, char32_t* second);
// As normal_form.
std::string library_normal_form(std::string_view text, NormalForm form);

}  // namespace heed
