// The map between texts and token ids, whatever made it.
//
//   std::unique_ptr<Vocabulary> words = load_vocabulary("model", "source");   // one of heed's own folders
//   std::vector<int> ids = words->encode("A dog runs.");                      // no begin or end symbol
//   words->decode(ids) == "A dog runs.";
//   words->word_of_pieces(ids);                                               // {0, 1, 2, 2}: each piece's word
//   open_tokenizer("bert")->encode_special("A dog runs.").ids;                // another's folder (open_tokenizer.h)
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

// The ids of the symbols that a vocabulary may have; -1 for one that it has not. Two may be one id.
struct SymbolIds {
  int pad = -1;
  int unknown = -1;
  int begin = -1;       // of a text: "<s>"
  int end = -1;         // "</s>"
  int classifier = -1;  // what BERT and its like put first: "[CLS]"
  int separator = -1;   // what they put after each text: "[SEP]"
  int mask = -1;        // what they guess: "[MASK]"

  friend bool operator==(const SymbolIds&, const SymbolIds&) = default;
};

// Those of the vocabularies that heed learns itself.
inline constexpr SymbolIds kOwnSymbols{.pad = 0, .unknown = 1, .begin = 2, .end = 3};

// A text, or two, with the special tokens that the model wants around them.
struct EncodedText {
  std::vector<int> ids;
  std::vector<int> types;  // one for each id, where models tell the two texts apart ("token type ids")

  friend bool operator==(const EncodedText&, const EncodedText&) = default;
};

// Whether decode writes special tokens.
enum class Specials { drop, keep };

// There are two sorts. The vocabularies that heed learns (SentencePieceVocabulary, WhitespaceVocabulary) have the ids
// kOwnSymbols, and promise one line of text without control characters. Those of others (Tokenizer,
// SentencePieceTokenizer, SentencePieceWords) have their own ids, and do to the letter what the library does that they
// are of. A joint vocabulary is one that is used for the source and for the target. All const members may be called
// from many threads.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  const SymbolIds& symbols() const { return symbols_; }
  int pad() const { return symbols_.pad; }
  int unknown() const { return symbols_.unknown; }
  int begin() const { return symbols_.begin; }
  int end() const { return symbols_.end; }
  int classifier() const { return symbols_.classifier; }
  int separator() const { return symbols_.separator; }
  int mask() const { return symbols_.mask; }

  // Returns the ids of a text, in [0, size()), without what encode_special adds; what has no id becomes unknown(). An
  // empty text gives no ids. Special tokens that the text spells are the tokens for a Tokenizer, and plain text for all
  // others. Throws heed::Error of others' vocabularies where the text is not UTF-8.
  virtual std::vector<int> encode(std::string_view text) const = 0;

  // The same with the special tokens that the vocabulary's own template puts around a text, or around a pair; a
  // vocabulary that has no template puts none. Types are the template's; without one, 0 for the first text and 1 for
  // the second.
  virtual EncodedText encode_special(std::string_view text) const;
  virtual EncodedText encode_special(std::string_view first, std::string_view second) const;

  // Returns the text of ids. Specials::drop leaves out the ids that is_special names; with Specials::keep they are
  // written as the vocabulary's library writes them, which SentencePiece does not: it never writes pad, begin and end.
  // Throws heed::Error for an id outside [0, size()).
  std::string decode(std::span<const int> ids, Specials specials = Specials::drop) const {
    return text_of(ids, specials);
  }

  // Whether decode drops the id: pad, begin and end, and what else another's file calls special.
  virtual bool is_special(int id) const { return id == pad() || id == begin() || id == end(); }

  // Returns how the vocabulary writes one id, to label a picture: "▁dog", "läu@@", "</s>". Throws as decode does.
  virtual std::string piece(int id) const = 0;

  // Returns what a piece adds to a text that has begun, with the spaces that it opens or closes a word with: " dog",
  // "läu". Of a special id, what the vocabulary would make of it.
  virtual std::string surface(int id) const = 0;

  // The id that piece() gives this text for; -1 where there is none.
  virtual int id_of(std::string_view piece) const = 0;

  virtual Index size() const = 0;

  // "sentencepiece" or "whitespace"; of others "tokenizer", "sentencepiece-model" or "sentencepiece-words".
  virtual std::string_view kind() const = 0;

  // Writes the vocabulary into the folder (made where it is missing) as the file that load_vocabulary(folder, stem)
  // finds.
  virtual void save(const std::filesystem::path& folder, std::string_view stem) const = 0;

  // Returns, for every id, which word of decode(ids) it belongs to, counted from 0 over the runs of characters between
  // spaces and ends of lines; -1 for special ids. A piece that holds parts of several words belongs to the first of
  // them, a piece that is only space to the word that it opens (the last word, where none follows), and to -1 where
  // there is no word at all.
  std::vector<int> word_of_pieces(std::span<const int> ids) const;

 protected:
  explicit Vocabulary(const SymbolIds& symbols) : symbols_(symbols) {}

  // Throws heed::Error in the name of `function` unless id is in [0, size()).
  void check_id(int id, std::string_view function) const;

 private:
  virtual std::string text_of(std::span<const int> ids, Specials specials) const = 0;
  SymbolIds symbols_;
};

// Every name that load_vocabulary looks for.
std::vector<std::filesystem::path> vocabulary_paths(const std::filesystem::path& folder, std::string_view stem);

// Loads the one that is there of folder/stem.spm (SentencePieceVocabulary), stem.vocab.txt (WhitespaceVocabulary),
// stem.tokenizer.json (Tokenizer), stem.model (SentencePieceTokenizer) and stem.words.json (SentencePieceWords). Throws
// heed::Error if none or several are, or if the file is not sound.
std::unique_ptr<Vocabulary> load_vocabulary(const std::filesystem::path& folder, std::string_view stem);

}  // namespace heed
