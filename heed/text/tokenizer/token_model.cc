#include "heed/text/tokenizer/token_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/text/tokenizer/bpe_model.h"
#include "heed/text/tokenizer/json_fields.h"
#include "heed/text/tokenizer/unigram_model.h"
#include "heed/text/tokenizer/word_piece_model.h"

namespace heed {
namespace {

constexpr Index kAnyHole = 65536;

PieceTable read_pieces(const Json& vocabulary) {
  PieceTable pieces;
  // Ids may leave holes, but a few pieces must not take the memory of millions.
  const Index most = std::min(PieceTable::kMostPieces, 8 * vocabulary.size() + kAnyHole);
  for (const auto& [piece, id] : vocabulary.members()) {
    pieces.add(piece, id.integer(0, most - 1));
  }
  if (pieces.count() == 0) vocabulary.refuse("must hold pieces");
  return pieces;
}

// "a b", or ["a", "b"] where pieces may hold spaces.
std::vector<std::pair<std::string, std::string>> read_merges(const Json& merges) {
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(static_cast<std::size_t>(merges.size()));
  for (const Json& merge : merges.items()) {
    if (merge.kind() == Json::Kind::array) {
      if (merge.size() != 2) merge.refuse("must be two pieces");
      pairs.emplace_back(merge[Index{0}].string(), merge[Index{1}].string());
      continue;
    }
    const std::string& both = merge.string();
    if (both.starts_with("#version")) continue;
    const std::size_t space = both.find(' ');
    if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos)
      merge.refuse("must be two pieces with one space between them");
    pairs.emplace_back(both.substr(0, space), both.substr(space + 1));
  }
  return pairs;
}

BpeOptions read_bpe_options(const Json& json, bool long_words) {
  if (is_given(json, "dropout") && json["dropout"].number() != 0)
    json["dropout"].refuse("must be 0: heed drops no merge");
  return {.word_prefix = string_or(json, "continuing_subword_prefix", ""),
          .word_suffix = string_or(json, "end_of_word_suffix", ""),
          .unknown = string_or(json, "unk_token", ""),
          .fuse_unknown = flag_or(json, "fuse_unk", false),
          .byte_fallback = flag_or(json, "byte_fallback", false),
          .ignore_merges = flag_or(json, "ignore_merges", false),
          .long_words = long_words};
}

std::unique_ptr<const TokenModel> read_bpe(const Json& json, bool long_words) {
  return BpeModel::with_merges(read_pieces(json["vocab"]), read_merges(json["merges"]),
                               read_bpe_options(json, long_words));
}

std::vector<UnigramModel::Piece> read_scored_pieces(const Json& vocabulary) {
  std::vector<UnigramModel::Piece> pieces;
  pieces.reserve(static_cast<std::size_t>(vocabulary.size()));
  for (const Json& item : vocabulary.items()) {
    if (item.kind() != Json::Kind::array || item.size() != 2) item.refuse("must be a piece and its score");
    pieces.push_back({item[Index{0}].string(), item[Index{1}].number()});
  }
  return pieces;
}

// "unmergeable" lists the ids of symbols and bytes.
std::unique_ptr<const TokenModel> read_scored_bpe(const Json& json, bool long_words) {
  PieceTable pieces;
  std::vector<float> scores;
  for (UnigramModel::Piece& piece : read_scored_pieces(json["vocab"])) {
    pieces.add(std::move(piece.text), std::ssize(scores));
    scores.push_back(static_cast<float>(piece.score));
  }
  scores.resize(static_cast<std::size_t>(pieces.size()));
  std::vector<bool> mergeable(scores.size(), true);
  for (const Index id : json["unmergeable"].integer_list(0, pieces.size() - 1))
    mergeable[static_cast<std::size_t>(id)] = false;
  return BpeModel::with_scores(std::move(pieces), scores, mergeable, read_bpe_options(json, long_words));
}

std::unique_ptr<const TokenModel> read_word_piece(const Json& json) {
  return std::make_unique<WordPieceModel>(
      read_pieces(json["vocab"]), WordPieceOptions{.unknown = string_or(json, "unk_token", "[UNK]"),
                                                   .prefix = string_or(json, "continuing_subword_prefix", "##"),
                                                   .longest_word = is_given(json, "max_input_chars_per_word")
                                                                       ? json["max_input_chars_per_word"].integer(0)
                                                                       : Index{100}});
}

std::unique_ptr<const TokenModel> read_unigram(const Json& json) {
  const std::vector<UnigramModel::Piece> pieces = read_scored_pieces(json["vocab"]);
  const int unknown =
      is_given(json, "unk_id") ? static_cast<int>(json["unk_id"].integer(0, std::ssize(pieces) - 1)) : -1;
  return std::make_unique<UnigramModel>(pieces, unknown, flag_or(json, "byte_fallback", false));
}

// Old files do not say: what they have does.
std::string kind_of(const Json& json) {
  if (is_given(json, "type")) return type_of(json);
  if (json.has("merges")) return "BPE";
  if (json["vocab"].kind() == Json::Kind::array) return "Unigram";
  return json.has("continuing_subword_prefix") || json.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

}  // namespace

std::unique_ptr<const TokenModel> read_token_model(const Json& json, bool long_words) {
  const std::string kind = kind_of(json);
  try {
    if (kind == "BPE") return read_bpe(json, long_words);
    if (kind == "ScoredBPE") return read_scored_bpe(json, long_words);
    if (kind == "WordPiece") return read_word_piece(json);
    if (kind == "WordLevel")
      return std::make_unique<WordLevelModel>(read_pieces(json["vocab"]), string_or(json, "unk_token", "<unk>"));
    if (kind == "Unigram") return read_unigram(json);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(json.where())) throw;
    throw Error(json.where() + ": " + what);
  }
  json["type"].refuse("must be BPE, WordPiece, WordLevel or Unigram");
}

}  // namespace heed
