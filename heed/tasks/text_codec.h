// How texts become what a model reads, and what a model writes becomes text.
//
//   TextCodec codec = codec_of_others(vocabularies, {.begin = 0, .ends = {1}, .never = {}}, /*translates=*/true);
//   codec.source_ids("Guten Morgen.");
//   EncodedCorpus corpus = encode_corpus(text, codec.source_encoding(), codec.target_encoding(), 100);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/decode/decoding_options.h"
#include "heed/decode/search.h"
#include "heed/io/json.h"
#include "heed/text/text_encoding.h"

namespace heed {

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // one object where the vocabulary is joint
};

// Those that a model whose embeddings have so many rows can use (heed/text/bounded_vocabulary.h).
Vocabularies bounded(const Vocabularies& vocabularies, Index source_rows, Index target_rows);

// Of a model of many languages (heed/text/language_tokens.h): that of sources, and that of what is written. Empty: as
// the folder has it.
struct Languages {
  std::string source{}, target{};
};

struct TextCodec {
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // one object where the vocabulary is joint

  // What batches put around a text's ids, and what decoding begins and ends with. heed's own models have a begin and an
  // end token around every text. For others (`templated`) the vocabulary's template puts what it puts,
  // which is in the ids already; only the target of a translation has a begin and an end token.
  SymbolIds source_symbols = kOwnSymbols, target_symbols = kOwnSymbols;
  SpecialTokens special{};
  DecodingOptions decoding{};  // where nobody says otherwise
  bool templated = false;
  bool translates = false;  // of others: there is a source and a target

  // The ids of a source, and of a target or of a language model's text, for batches with those symbols around them. A
  // target has the token that each is made to begin with.
  std::vector<int> source_ids(std::string_view text) const;
  std::vector<int> target_ids(std::string_view text) const;
  // The most of those ids that a model of `length` positions holds with the symbols around them.
  Index source_room(Index length) const { return length - Index{source_symbols.end >= 0}; }
  Index target_room(Index length) const { return length - Index{target_symbols.begin >= 0}; }
  // Throws heed::Error for a language that the model has not, and where it does not translate.
  void choose(const Languages& languages);
  // What a language model reads before it goes on: never empty.
  std::vector<int> prompt_ids(std::string_view text) const;

  // The same to learn from and to translate, with no ids for a text that alone has none. A language model's have the
  // tokens around them that decoding begins and ends with, where there are such and the template has not put them
  // there. Both hold on to the codec.
  TextEncoding source_encoding() const;
  TextEncoding target_encoding() const;
};

// That of heed's own models.
TextCodec codec_of(Vocabularies vocabularies);
// That of others, whose decoding begins with special.begin (-1: with nothing). Tokens beyond the vocabulary are never
// written.
TextCodec codec_of_others(Vocabularies vocabularies, SpecialTokens special, bool translates);

// What a folder keeps of it beside the vocabularies, where it is of others: {"begin": 0, "ends": [1], "first": -1,
// "last": -1, "never": [], "never_first": [], "decoding": {"search": {"beam": 4}}}, all but the first two only where
// there is something to say.
Json to_json(const TextCodec& codec);
// Throws heed::Error that names the place for what is none.
TextCodec codec_from_json(const Json& json, Vocabularies vocabularies, bool translates);

}  // namespace heed
