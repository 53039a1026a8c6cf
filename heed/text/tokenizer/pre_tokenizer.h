// Where a normalised text is cut into words before a model sees them: tokenizer.json's "pre_tokenizer".
//
//   std::unique_ptr<const PreTokenizer> cut = read_pre_tokenizer(json["pre_tokenizer"]);   // null: it is one word
//   cut->split({"two words", true}, [&](Word word) { ... });
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "heed/io/json.h"

namespace heed {

// A part of the text, which a pre-tokenizer may have changed.
struct Word {
  std::string_view text;  // well-formed UTF-8; lasts as long as the call
  bool first;             // it begins where the text does, with no special token before it
};

using WordSink = std::function<void(Word)>;

// May be used from many threads.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Calls sink(word) for each word of the text, from left to right; none is empty.
  virtual void split(Word text, const WordSink& sink) const = 0;
};

// BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, Punctuation, Sequence, Split,
// Whitespace, WhitespaceSplit; nothing for null. Throws heed::Error naming the place for any other, or what one lacks.
std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const Json& json);

}  // namespace heed
