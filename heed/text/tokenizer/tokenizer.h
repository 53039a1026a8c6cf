// Tokenizers of others as Hugging Face's library has them: one file, tokenizer.json, which says how a text is
// normalised, split, and made ids of, which tokens are special, and how ids become text again.
//
//   Tokenizer bert = Tokenizer::load("bert/tokenizer.json");
//   bert.encode("A dog runs.");                                  // the ids alone
//   bert.encode_special("A dog runs.", "It barks.").types;       // [CLS] 0 0 0 0 [SEP] 0 ... 1 [SEP]
//   bert.decode(ids, Specials::keep);
//   auto any = open_tokenizer("bert");                           // of whatever files a folder has (open_tokenizer.h)
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/vocabulary.h"

namespace heed {

// Ids, pieces and text are those of the library to the letter: of models BPE (on characters or bytes, with the bytes'
// pieces for characters without one), WordPiece, WordLevel and Unigram; of every normalizer, pre-tokenizer,
// post-processor, decoder and added token that its files have, but for UnicodeScripts. Its "truncation" and "padding"
// are left to who makes batches. What is asked for and not there is one heed::Error that names the file and the place.
//
// Speed: 10 MB of English and German take GPT-2's or BERT's tokenizer about a second of one thread.
class Tokenizer final : public Vocabulary {
 public:
  // Reads a file. Symbols are found by the names that BERT's, GPT-2's, Llama's and T5's have for them.
  static Tokenizer load(const std::filesystem::path& path);
  // The same from memory; errors call it `name`.
  static Tokenizer from_json(std::string_view text, std::string_view name);
  // Of a definition that is parsed or made (definitions.h).
  static Tokenizer from_definition(const Json& definition, std::string_view name);
  // The same tokenizer with other symbols. Throws heed::Error for an id outside [-1, size()).
  Tokenizer with_symbols(const SymbolIds& symbols) const;
  // The same tokenizer, whose template has the token of that id wherever it has one of those that are `replaced`.
  // Throws heed::Error where it has none around a text, and for an id outside [0, size()).
  Tokenizer with_special_token(const std::function<bool(std::string_view)>& replaced, int id) const;
  // folder/stem.tokenizer.json
  static std::filesystem::path path_in(const std::filesystem::path& folder, std::string_view stem);

  std::vector<int> encode(std::string_view text) const override;
  EncodedText encode_special(std::string_view text) const override;
  EncodedText encode_special(std::string_view first, std::string_view second) const override;
  bool is_special(int id) const override;
  std::string piece(int id) const override;
  int id_of(std::string_view piece) const override;
  Index size() const override;
  std::string_view kind() const override { return "tokenizer"; }
  // Writes tokenizer.json's text, with the symbols in it: heed's own member "symbols", which others pass over.
  void save(const std::filesystem::path& folder, std::string_view stem) const override;

 private:
  struct Impl;
  Tokenizer(std::shared_ptr<const Impl> impl, const SymbolIds& symbols) : Vocabulary(symbols), impl_(std::move(impl)) {}
  static Tokenizer read(std::string text, const Json& json);
  std::string text_of(std::span<const int> ids, Specials specials) const override;
  std::string surface(int id) const override;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace heed
