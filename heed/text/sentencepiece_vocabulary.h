// Subword vocabularies learned from raw text by SentencePiece (Kudo and Richardson 2018), by BPE (Sennrich et al. 2016)
// or by a unigram language model (Kudo 2018). The only door to that library.
//
//   auto pieces = SentencePieceVocabulary::train(lines, {.model = SentencePieceModel::bpe, .vocabulary_size = 4000});
//   pieces.decode(pieces.encode("Ein Hund läuft.")) == "Ein Hund läuft.";
//   pieces.save("model", "joint");                          // model/joint.spm: SentencePiece's own tools read it
#pragma once

#include "heed/text/vocabulary.h"

namespace heed {

enum class SentencePieceModel { unigram, bpe };

struct SentencePieceOptions {
  SentencePieceModel model = SentencePieceModel::unigram;
  Index vocabulary_size = 8000;     // pieces in all, the four symbols included; fewer where the text supports no more
  double character_coverage = 1.0;  // the share of the text whose characters get a piece; the rarest others are unknown
  bool byte_fallback = false;       // 256 pieces for bytes, so that nothing is unknown
  std::string normalization = "nmt_nfkc";  // identity, nfkc, nmt_nfkc (NFKC, and every kind of space is one space), and
                                           // nfkc_cf, nmt_nfkc_cf (the same with case folded)
};

// A sentence is normalised, each run of spaces in it becomes one space and those at its ends go; decode(encode(s)) is
// that form of s, where no character of s is unknown. An unknown stretch is shown as "⁇". U+2581, which stands for the
// space in pieces, is read as a space. No piece has a control character, and decode writes a space for each.
class SentencePieceVocabulary final : public Vocabulary {
 public:
  // Learns a vocabulary from lines of raw text. The same lines and options give the same bytes. Throws heed::Error if
  // an option is out of range, a line is not UTF-8, no line has a visible character, or vocabulary_size is too small
  // for the characters that must be covered.
  static SentencePieceVocabulary train(std::span<const std::string> lines, const SentencePieceOptions& options = {});
  // Reads a model, trained here or by SentencePiece's own tools with the ids pad 0, unknown 1, begin 2, end 3. Throws
  // heed::Error naming the file, whatever its bytes are; a model that loads is safe to use.
  static SentencePieceVocabulary load(const std::filesystem::path& path);
  // The same from memory; errors call it `name`.
  static SentencePieceVocabulary from_bytes(std::string_view model, std::string_view name);
  // folder/stem.spm
  static std::filesystem::path path_in(const std::filesystem::path& folder, std::string_view stem);

  std::vector<int> encode(std::string_view sentence) const override;
  std::string piece(int id) const override;
  int id_of(std::string_view piece) const override;
  Index size() const override;
  std::string_view kind() const override { return "sentencepiece"; }
  void save(const std::filesystem::path& folder, std::string_view stem) const override;
  // The serialised model, as save writes it.
  const std::string& bytes() const;

 private:
  struct Impl;
  explicit SentencePieceVocabulary(std::shared_ptr<const Impl> impl)
      : Vocabulary(kOwnSymbols), impl_(std::move(impl)) {}
  std::string text_of(std::span<const int> ids, Specials specials) const override;
  std::string surface(int id) const override;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace heed
