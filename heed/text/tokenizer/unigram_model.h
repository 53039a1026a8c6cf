// A unigram language model over pieces (Kudo 2018): of all ways to cut a word into pieces, the one with the largest sum
// of scores, found by Viterbi's algorithm in double precision.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/text/tokenizer/token_model.h"

namespace heed {

class UnigramModel final : public TokenModel {
 public:
  struct Piece {
    std::string text;
    double score;  // log-probability
  };

  // The place of a piece in the list is its id. A character that no piece covers alone counts as unknown, at the lowest
  // score less 10; a run of unknown characters is one piece, or the pieces of its bytes ("<0xE2>" and so on) with
  // byte_fallback where all are there. unknown is -1 where there is none. Throws heed::Error where there is no piece,
  // unknown is not one, or a score is not finite.
  UnigramModel(const std::vector<Piece>& pieces, int unknown, bool byte_fallback);
  void tokenize(std::string_view word, std::vector<int>& ids) const override;

 private:
  // A trie over bytes. The children of a node stand together, in the order of their bytes.
  struct Node {
    std::uint32_t children = 0;  // the first of them
    std::uint16_t child_count = 0;
    std::uint8_t byte = 0;
    int id = -1;  // of the piece that ends here
  };

  void build_trie();
  const Node* child(const Node& node, char byte) const;
  void add_unknown(std::string_view run, std::vector<int>& ids) const;

  std::vector<double> scores_;
  double unknown_score_ = 0;
  std::vector<Node> trie_;
  bool byte_fallback_;
  std::array<int, 256> byte_ids_;
};

}  // namespace heed
