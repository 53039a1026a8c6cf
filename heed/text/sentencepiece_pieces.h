// A SentencePiece model taken apart: its pieces and rules as plain lists, for tokenizers that give the pieces other ids
// than the file (heed/text/renumbered_pieces.h).
#pragma once

#include <string_view>

#include "heed/text/plain_vocabulary.h"

namespace heed {

// Pieces, scores, types, the normaliser's table and rules, by the file's ids; symbols.unknown alone of the symbols, and
// nothing around a text. Of unigram and BPE models. Throws heed::Error naming `name` where the bytes are no model
// (check_sentencepiece_model) or one of another kind, of other treatment of spaces, or without an unknown piece.
PlainVocabulary read_sentencepiece_pieces(std::string_view bytes, std::string_view name);

}  // namespace heed
