// SentencePiece's models of others: Llama's, Mistral's, T5's, with the ids that they have.
//
//   auto pieces = SentencePieceTokenizer::load("llama/tokenizer.model", {.begins = true});
//   pieces.encode("Hello there.");                       // as SentencePiece's own tools
//   pieces.encode_special("Hello there.").ids.front();   // <s>
#pragma once

#include "heed/text/vocabulary.h"

namespace heed {

// What a model's folder says beside the model.
struct SentencePieceTemplate {
  bool begins = false;  // a text begins with the begin symbol
  bool ends = false;    // and ends with the end symbol
};

// Ids and decoded text are those of SentencePiece's library on the same model: of unigram and BPE models, with or
// without pieces for bytes. Symbols that a text spells are plain text; decoded text may have several lines.
class SentencePieceTokenizer final : public Vocabulary {
 public:
  // Reads a model, whatever ids its symbols have. Throws heed::Error naming the file, whatever its bytes are; a model
  // that loads is safe to use.
  static SentencePieceTokenizer load(const std::filesystem::path& path, SentencePieceTemplate around = {});
  // The same from memory; errors call it `name`.
  static SentencePieceTokenizer from_bytes(std::string_view model, std::string_view name,
                                           SentencePieceTemplate around = {});
  // folder/stem.model
  static std::filesystem::path path_in(const std::filesystem::path& folder, std::string_view stem);

  std::vector<int> encode(std::string_view text) const override;
  EncodedText encode_special(std::string_view text) const override;
  EncodedText encode_special(std::string_view first, std::string_view second) const override;
  bool is_special(int id) const override;
  std::string piece(int id) const override;
  int id_of(std::string_view piece) const override;
  Index size() const override;
  std::string_view kind() const override { return "sentencepiece-model"; }
  // Writes the model, which says itself what is around a text: SentencePiece's own tools pass over that.
  void save(const std::filesystem::path& folder, std::string_view stem) const override;

 private:
  struct Impl;
  SentencePieceTokenizer(std::shared_ptr<const Impl> impl, const SymbolIds& symbols)
      : Vocabulary(symbols), impl_(std::move(impl)) {}
  EncodedText with_symbols(std::vector<int> ids, int type) const;
  std::string text_of(std::span<const int> ids, Specials specials) const override;
  std::string surface(int id) const override;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace heed
