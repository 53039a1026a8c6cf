// Byte-pair encoding (Sennrich et al. 2016): a word's characters are merged, two neighbours at a time, the best pair
// first and of equal ones the leftmost, until no two that are left may be merged.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/tokenizer/merge_table.h"
#include "heed/text/tokenizer/token_model.h"

namespace heed {

struct BpeOptions {
  std::string word_prefix = "";  // that each character but a word's first has in the vocabulary
  std::string word_suffix = "";  // that a word's last character has
  std::string unknown = "";      // the piece for a character without one; empty: such characters go
  bool fuse_unknown = false;     // a run of them is one piece
  bool byte_fallback = false;    // "<0xE2>" and so on, for a character without a piece
  bool ignore_merges = false;    // a word that is a piece is that piece
  bool long_words = false;       // words may be whole texts
};

class BpeModel final : public TokenModel {
 public:
  // Merges of pairs of pieces, the best first. Throws heed::Error where a piece of one is not there.
  static std::unique_ptr<const BpeModel> with_merges(PieceTable pieces,
                                                     const std::vector<std::pair<std::string, std::string>>& merges,
                                                     BpeOptions options);
  // As SentencePiece's models: any two neighbours that together are a piece may be merged, the piece of the highest
  // score first. scores[id]; a piece of which `mergeable` is false is never made.
  static std::unique_ptr<const BpeModel> with_scores(PieceTable pieces, const std::vector<float>& scores,
                                                     const std::vector<bool>& mergeable, BpeOptions options);

  void tokenize(std::string_view word, std::vector<int>& ids) const override;

 private:
  BpeModel(PieceTable&& pieces, MergeTable merges, BpeOptions options);
  void index_characters();
  void find_joints();
  int id_of_character(std::string_view character) const;
  bool bytes_of(std::string_view character, std::vector<int>& symbols) const;
  void merge(std::string_view word, std::vector<int>& symbols, std::vector<int>& ids) const;
  void merge_few(std::span<int> symbols, std::vector<int>& ids) const;
  void merge_many(std::span<const int> symbols, std::vector<int>& ids) const;

  MergeTable merges_;
  BpeOptions options_;
  bool decorated_;                  // characters have a prefix or a suffix in the vocabulary
  std::vector<int> character_ids_;  // of the lowest code points; -1 where there is none
  std::array<int, 256> byte_ids_;   // of "<0x00>" and so on; -1 where there is none
  // Which two symbols may stand at the seam of a merge: a long word falls apart everywhere else.
  std::optional<MergeTable> joints_;
  // Whether a piece, as a word, is that piece and no others: 0 where nobody has asked yet.
  std::unique_ptr<std::atomic<char>[]> whole_;
};

}  // namespace heed
