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
  HEED_CHECK(unknown() >= 0, "the unknown token '{}' is not in the vocabulary", printable(options_.unknown));
}

void WordPieceModel::tokenize(std::string_view word, std::vector<int>& ids) const {
  const auto characters = std::ranges::count_if(word, [](char byte) { return !continues_character(byte); });
  const std::size_t before = ids.size();
  const auto give_up = [&] {
    ids.resize(before);
    ids.push_back(unknown());
  };
  if (characters > options_.longest_word) return give_up();
  std::string rest(word);  // with the prefix, but for the whole word
  while (!rest.empty()) {
    std::size_t end = rest.size();
    int id = pieces().find(rest);
    const std::size_t least = ids.size() == before ? 0 : options_.prefix.size();
    while (id < 0) {
      do {
        --end;
      } while (end > least && continues_character(rest[end]));
      if (end <= least) return give_up();
      id = pieces().find(std::string_view(rest).substr(0, end));
    }
    ids.push_back(id);
    if (end == rest.size()) break;
    rest = options_.prefix + rest.substr(end);
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
