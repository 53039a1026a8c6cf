// What the library of tokenizer.json knows of Unicode. Each of its parts has the version that it was written with:
// punctuation, accents of words and control characters Unicode 8, marks and normal forms 9, words 16, numbers and lower
// case 17. What is told here is that, whether utf8proc has Unicode 14, 15 or 16.
//
//   is_library_punctuation(U'\u2E52');                              // false: it is of Unicode 14
//   library_normal_form("\u32FFe\u0301", NormalForm::nfkc);         // "\u32FF\u00E9": the era is of Unicode 12.1
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
