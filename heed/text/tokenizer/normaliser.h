// What a tokenizer does to a text before it cuts it: tokenizer.json's "normalizer".
//
//   std::unique_ptr<const Normaliser> nfc = read_normaliser(json["normalizer"]);   // null: as it is
//   nfc->normalise("e\u0301") == "\u00E9";
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heed/io/json.h"

namespace heed {

// May be used from many threads.
class Normaliser {
 public:
  virtual ~Normaliser() = default;
  // The text is well-formed UTF-8, and so is what is made of it.
  virtual std::string normalise(std::string_view text) const = 0;
  // Whether nothing is left of the text's first character, so that what is left does not begin where the text does.
  virtual bool loses_first(std::string_view text) const;
};

// BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip,
// StripAccents; nothing for null. Throws heed::Error naming the place for any other, or what one of them lacks.
std::unique_ptr<const Normaliser> read_normaliser(const Json& json);

}  // namespace heed
