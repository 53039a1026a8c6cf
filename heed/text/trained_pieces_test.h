// SentencePiece models for tests of what takes them apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/testing/protobuf_field.h"
#include "heed/text/plain_vocabulary.h"
#include "heed/text/sentencepiece_pieces.h"
#include "heed/text/sentencepiece_vocabulary.h"

namespace heed::testing {

// The bytes of a model that consists of these pieces and rules.
inline std::string model_of(const PlainVocabulary& plain) {
  std::string bytes;
  for (std::size_t id = 0; id < plain.pieces.size(); ++id) {
    bytes += field(1, field(1, plain.pieces[id]) + float_field(2, plain.scores[id]) +
                          number_field(3, static_cast<int>(plain.types[id])));
  }
  bytes += field(2, number_field(3, plain.kind == PlainVocabulary::Kind::llama ? 2 : 1));
  return bytes + field(3, field(2, plain.character_map) + number_field(3, plain.space_prefix ? 1 : 0) +
                              number_field(4, plain.single_spaces ? 1 : 0));
}

// Trained on a few lines, with these symbols in the place of heed's own.
inline PlainVocabulary trained(SentencePieceModel model, const std::string& normalisation,
                               const std::vector<std::pair<const char*, PlainVocabulary::Type>>& symbols) {
  const std::vector<std::string> lines = {"the cat sat on the mat, the dog too", "Der Hund läuft über das grüne Gras.",
                                          "日本語の文章です。"};
  SentencePieceOptions options{.vocabulary_size = 120};
  options.model = model;
  options.normalization = normalisation;
  const auto own = SentencePieceVocabulary::train(lines, options);
  PlainVocabulary plain = read_sentencepiece_pieces(own.bytes(), "own");
  constexpr std::ptrdiff_t kOwnSymbols = 4;
  plain.pieces.erase(plain.pieces.begin(), plain.pieces.begin() + kOwnSymbols);
  plain.scores.erase(plain.scores.begin(), plain.scores.begin() + kOwnSymbols);
  plain.types.erase(plain.types.begin(), plain.types.begin() + kOwnSymbols);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    plain.pieces.insert(plain.pieces.begin() + at, symbols[i].first);
    plain.scores.insert(plain.scores.begin() + at, 0);
    plain.types.insert(plain.types.begin() + at, symbols[i].second);
  }
  return plain;
}

}  // namespace heed::testing
