// A model that was checked, into SentencePiece's library.
#pragma once

#include <string>
#include <string_view>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace heed {

// The bytes must have passed check_sentencepiece_model, and outlive the processor. Throws heed::Error naming `name`
// where the library refuses them.
void load_sentencepiece(std::string_view bytes, std::string_view name,
                        sentencepiece::SentencePieceProcessor& processor);

// A piece as it stands in a text: with spaces for U+2581.
std::string surface_of_piece(std::string piece);

}  // namespace heed
