// What must hold of a serialised SentencePiece model before the library may see it.
#pragma once

#include <string_view>

namespace heed {

// What a model has to keep to.
enum class SentencePieceRules {
  own,     // pieces, and the text for an unknown one, have no control characters; pieces begin words with their spaces
  library  // what the library can do
};

// Walks the bytes of a model (the protobuf wire format of SentencePiece's ModelProto) and throws heed::Error that names
// it `name` unless SentencePiece 0.1.97 can hold and use it without reading outside it. Checked here: every length;
// that pieces, and the text for an unknown one, are UTF-8; that scores are finite; that the normaliser's table, a
// double-array trie whose links and string offsets the library follows blindly, stays inside itself, has no cycle, and
// gives no more matches at a position than the library has room for; and what the rules say. What SentencePiece checks
// on its own (duplicate pieces, a missing unknown symbol, incomplete byte pieces) is left to it.
void check_sentencepiece_model(std::string_view bytes, std::string_view name, SentencePieceRules rules);

// The same for the table of a normaliser alone, NormalizerSpec's precompiled_charsmap; an empty one is none.
void check_character_map(std::string_view map, std::string_view name);

}  // namespace heed
