// How lines of text become the ids that a model learns from.
//
//   const SentencePieceVocabulary vocabulary = SentencePieceVocabulary::load("vocabulary.spm");
//   encode_documents(lines, vocabulary, 256);                             // its ids, and its symbols around them
//   encode_documents(lines, {[&](std::string_view text) { return tokenizer.encode_special(text).ids; }, {}}, 256);
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed {

struct TextEncoding {
  // The ids of a line, called from many threads; none for a line to leave out.
  std::function<std::vector<int>(std::string_view)> ids;
  SymbolIds symbols;  // what is put around them

  // Holds on to the vocabulary, which must outlive it.
  TextEncoding(const Vocabulary& vocabulary)  // NOLINT: a vocabulary is used as its own encoding
      : ids([&vocabulary](std::string_view text) { return vocabulary.encode(text); }), symbols(vocabulary.symbols()) {}
  TextEncoding(std::function<std::vector<int>(std::string_view)> ids_of, const SymbolIds& around)
      : ids(std::move(ids_of)), symbols(around) {}
};

}  // namespace heed
