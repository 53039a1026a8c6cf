// A model that was checked, into SentencePiece's library.
#pragma once

#include <string_view>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace heed {

// The bytes must have passed check_sentencepiece_model, and outlive the processor. Throws heed::Error naming `name`
// where the library refuses them.
void load_sentencepiece(std::string_view bytes, std::string_view name,
                        sentencepiece::SentencePieceProcessor& processor);

}  // namespace heed
