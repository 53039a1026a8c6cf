// What makes ids of a word, once a text is normalised and split: one class for each kind of model.
//
//   std::unique_ptr<const TokenModel> model = read_token_model(json["model"], /*long_words=*/false);
//   std::vector<int> ids;
//   model->tokenize("Ġhello", ids);
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/text/tokenizer/piece_table.h"

namespace heed {

// May be used from many threads.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the ids of a word, which is not empty. Throws heed::Error where the word holds what has no id, and there is
  // no id for that.
  virtual void tokenize(std::string_view word, std::vector<int>& ids) const = 0;

  const PieceTable& pieces() const { return pieces_; }
  // What stands for what has no id; -1 where nothing does.
  int unknown() const { return unknown_; }

 protected:
  TokenModel(PieceTable&& pieces, int unknown) : pieces_(std::move(pieces)), unknown_(unknown) {}

 private:
  PieceTable pieces_;
  int unknown_;
};

// Reads tokenizer.json's "model": BPE, WordPiece, WordLevel or Unigram, and heed's own ScoredBPE (bpe_model.h). Where
// no pre-tokenizer cuts the text, words may be as long as it. Throws heed::Error naming the place.
std::unique_ptr<const TokenModel> read_token_model(const Json& json, bool long_words);

}  // namespace heed
