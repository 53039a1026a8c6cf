// The map between sentences and token ids, whatever made it.
//
//   std::unique_ptr<Vocabulary> words = load_vocabulary("model", "source");   // source.spm or source.vocab.txt
//   std::vector<int> ids = words->encode("A dog runs.");                      // no begin or end symbol
//   words->decode(ids) == "A dog runs.";
//   words->word_of_pieces(ids);                                               // {0, 1, 2, 2}: each piece's word
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

// A joint vocabulary is one that is used for the source and for the target. All const members may be called from many
// threads.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // The four symbols that every vocabulary has, at the same ids.
  static constexpr int kPad = 0;
  static constexpr int kUnknown = 1;
  static constexpr int kBegin = 2;
  static constexpr int kEnd = 3;
  int pad() const { return kPad; }
  int unknown() const { return kUnknown; }
  int begin() const { return kBegin; }
  int end() const { return kEnd; }

  // Returns the ids of a sentence, in [0, size()), without begin or end; what has no id becomes unknown(). Never
  // returns pad(), begin() or end(), even where the text spells them. An empty or blank sentence gives no ids.
  virtual std::vector<int> encode(std::string_view sentence) const = 0;

  // Returns the sentence of ids, on one line: without pad, begin and end, and without control characters. Throws
  // heed::Error for an id outside [0, size()).
  virtual std::string decode(std::span<const int> ids) const = 0;

  // Returns how the vocabulary writes one id, to label a picture: "▁dog", "läu@@", "</s>". Throws as decode does.
  virtual std::string piece(int id) const = 0;

  virtual Index size() const = 0;

  // "sentencepiece" or "whitespace".
  virtual std::string_view kind() const = 0;

  // Writes the vocabulary into the folder (made where it is missing) as the file that load_vocabulary(folder, stem)
  // finds.
  virtual void save(const std::filesystem::path& folder, std::string_view stem) const = 0;

  // Returns, for every id, which word of decode(ids) it belongs to, counted from 0 over the runs of characters between
  // spaces; -1 for pad, begin and end. A piece that holds parts of several words belongs to the first of them, a piece
  // that is only space to the word that it opens (the last word, where none follows), and to -1 where there is no word
  // at all.
  std::vector<int> word_of_pieces(std::span<const int> ids) const;

 protected:
  // Throws heed::Error in the name of `function` unless id is in [0, size()).
  void check_id(int id, std::string_view function) const;
  static bool is_invisible(int id) { return id == kPad || id == kBegin || id == kEnd; }

 private:
  // What a visible piece adds to a sentence, with the spaces that it opens or closes a word with.
  virtual std::string surface(int id) const = 0;
};

// Loads folder/stem.spm (SentencePieceVocabulary) or folder/stem.vocab.txt (WhitespaceVocabulary), whichever is there.
// Throws heed::Error if neither or both are, or if the file is not sound.
std::unique_ptr<Vocabulary> load_vocabulary(const std::filesystem::path& folder, std::string_view stem);

}  // namespace heed
