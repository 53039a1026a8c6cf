// Marian's vocabularies: pieces by a SentencePiece model, and their ids by a list that both languages share.
//
//   auto english = SentencePieceWords::load("opus-mt-en-de/source.spm", "opus-mt-en-de/vocab.json");
//   english.encode_special("Hello there.").ids.back();   // </s>
#pragma once

#include "heed/text/vocabulary.h"

namespace heed {

class SentencePieceWords final : public Vocabulary {
 public:
  // Reads source.spm or target.spm, and vocab.json: {"piece": id}. "</s>" ends texts and "<unk>" stands for pieces that
  // have no id; both must be there. A text may spell them and "<pad>", and what it begins with from ">>" to the last
  // "<<" is one piece: the language to translate to. Throws heed::Error naming the file and the place.
  static SentencePieceWords load(const std::filesystem::path& model, const std::filesystem::path& list);
  // The same from memory.
  static SentencePieceWords from_bytes(std::string_view model, std::string_view model_name, std::string_view list,
                                       std::string_view list_name);
  // folder/stem.words.json, beside which lies folder/stem.words.spm
  static std::filesystem::path path_in(const std::filesystem::path& folder, std::string_view stem);

  std::vector<int> encode(std::string_view text) const override;
  EncodedText encode_special(std::string_view text) const override;
  EncodedText encode_special(std::string_view first, std::string_view second) const override;
  bool is_special(int id) const override { return id == pad() || id == end() || id == unknown(); }
  std::string piece(int id) const override;
  int id_of(std::string_view piece) const override;
  Index size() const override;
  std::string_view kind() const override { return "sentencepiece-words"; }
  void save(const std::filesystem::path& folder, std::string_view stem) const override;

 private:
  struct Impl;
  SentencePieceWords(std::shared_ptr<const Impl> impl, const SymbolIds& symbols)
      : Vocabulary(symbols), impl_(std::move(impl)) {}
  std::string text_of(std::span<const int> ids, Specials specials) const override;
  std::string surface(int id) const override;
  // Of what lies between symbols.
  void encode_words(std::string_view text, std::vector<int>& ids) const;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace heed
