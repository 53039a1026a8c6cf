// How pieces become text again: tokenizer.json's "decoder".
//
//   std::unique_ptr<const PieceDecoder> decoder = read_piece_decoder(json["decoder"]);
//   join(decoder->decode({"Ġtwo", "Ġwords"})) == " two words";
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/io/json.h"

namespace heed {

// May be used from many threads.
class PieceDecoder {
 public:
  virtual ~PieceDecoder() = default;
  // Parts that are the text, one behind the other.
  virtual std::vector<std::string> decode(std::vector<std::string> pieces) const = 0;
};

// BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece. For null: pieces with
// a space between any two. Throws heed::Error naming the place for any other, or what one of them lacks.
std::unique_ptr<const PieceDecoder> read_piece_decoder(const Json& json);

// The text of bytes that need not be UTF-8: U+FFFD for each longest part that could begin a character, or byte, that is
// none (Unicode 15, section 3.9).
std::string valid_text(std::string_view bytes);

}  // namespace heed
