// Vocabularies of models that translate between many languages: a special token says which one a text is in, "deu_Latn"
// of NLLB, "de_DE" of mBART, "__de__" of M2M-100.
//
//   languages_of(vocabulary);                          // {"ace_Arab", ..., "zul_Latn"}
//   auto german = with_language(vocabulary, "deu_Latn");   // whose template says that texts are German
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed {

// Two or three small letters with a country, "de_DE", or a script, "deu_Latn", behind them, or in pairs of underscores.
bool is_language_token(std::string_view piece);

// The special tokens that are such, in the order of their ids.
std::vector<std::string> languages_of(const Vocabulary& vocabulary);

// The id of a language; "de" is "__de__", too. Throws heed::Error that names some of those that there are where this is
// none of them, or says that there are none.
int language_id(const Vocabulary& vocabulary, std::string_view language);

// The vocabulary, whose template names that language in the place of another one. Throws heed::Error as language_id
// does, and where the template of the vocabulary names none.
std::shared_ptr<const Vocabulary> with_language(const Vocabulary& vocabulary, std::string_view language);

}  // namespace heed
