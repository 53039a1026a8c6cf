#include "heed/text/tokenizer/word_piece_model.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

WordPieceModel::WordPieceModel(PieceTable&& pieces, WordPieceOptions options)
    : TokenModel(std::move(pieces), pieces.find(options.unknown)), options_(std::move(options)) {
  for (int id = 0; id < this->pieces().size(); ++id) longest_ = std::max(longest_, this->pieces().piece(id).size());
}

void WordPieceModel::tokenize(std::string_view word, std::vector<int>& ids) const {
  const auto characters = std::ranges::count_if(word, [](char byte) { return !continues_character(byte); });
  const std::size_t before = ids.size();
  const auto give_up = [&] {
    HEED_CHECK(unknown() >= 0, "encode: '{}' has no pieces, and the unknown token '{}' is not in the vocabulary",
               printable(word), printable(options_.unknown));
    ids.resize(before);
    ids.push_back(unknown());
  };
  if (characters > options_.longest_word) return give_up();
  std::string candidate;
  for (std::size_t begin = 0; begin < word.size();) {
    candidate = begin == 0 ? "" : options_.prefix;
    const std::size_t prefix = candidate.size();
    candidate += word.substr(begin, longest_);
    int id = pieces().find(candidate);
    while (id < 0) {
      while (candidate.size() > prefix && continues_character(candidate.back())) candidate.pop_back();
      if (candidate.size() > prefix) candidate.pop_back();
      if (candidate.size() == prefix) return give_up();
      id = pieces().find(candidate);
    }
    ids.push_back(id);
    begin += candidate.size() - prefix;
  }
}

WordLevelModel::WordLevelModel(PieceTable&& pieces, std::string_view unknown)
    : TokenModel(std::move(pieces), pieces.find(unknown)) {}

void WordLevelModel::tokenize(std::string_view word, std::vector<int>& ids) const {
  const int id = pieces().find(word);
  HEED_CHECK(id >= 0 || unknown() >= 0, "encode: the vocabulary has neither '{}' nor an unknown token",
             printable(word));
  ids.push_back(id >= 0 ? id : unknown());
}

}  // namespace heed
