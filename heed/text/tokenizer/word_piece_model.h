// Models that look whole words or the longest pieces up: BERT's WordPiece (Devlin et al. 2019), and WordLevel.
#pragma once

#include <string>

#include "heed/text/tokenizer/token_model.h"

namespace heed {

struct WordPieceOptions {
  std::string unknown = "[UNK]";  // must be a piece
  std::string prefix = "##";      // that each piece but a word's first has in the vocabulary
  Index longest_word = 100;       // characters; a longer word is unknown
};

// From the left, the longest piece that the rest of the word begins with; a word whose rest begins with none is unknown
// as a whole.
class WordPieceModel final : public TokenModel {
 public:
  // Throws heed::Error where the unknown piece is not there.
  WordPieceModel(PieceTable&& pieces, WordPieceOptions options);
  void tokenize(std::string_view word, std::vector<int>& ids) const override;

 private:
  WordPieceOptions options_;
  std::size_t longest_ = 0;  // bytes of a piece
};

// A word is one piece or unknown.
class WordLevelModel final : public TokenModel {
 public:
  WordLevelModel(PieceTable&& pieces, std::string_view unknown);
  void tokenize(std::string_view word, std::vector<int>& ids) const override;
};

}  // namespace heed
