// ALBERT's tokenizer (Lan et al. 2020): a SentencePiece model whose pieces keep their ids, but more is done to a text
// than the model says.
//
//   const PlainVocabulary model = read_sentencepiece_pieces(bytes, "spiece.model");
//   Tokenizer::from_definition(albert_definition(model, {.lower = true}, "spiece.model"), "spiece.model");
#pragma once

#include <string_view>

#include "heed/io/json.h"
#include "heed/text/plain_vocabulary.h"

namespace heed {

struct AlbertRules {
  bool lower = true;
  bool keeps_accents = false;
};

// The content of a tokenizer.json for the model: ``text'' is quoted as "text" is, accents go and letters are small
// before the model's own rules; "[CLS]" and "[SEP]" stand around texts; and no piece that is a number's end and a comma
// is chosen where there is another way, as Hugging Face's fast tokenizers have it. Throws heed::Error that begins with
// `name` where the model has no [CLS] or [SEP].
Json albert_definition(PlainVocabulary model, const AlbertRules& rules, std::string_view name);

}  // namespace heed
