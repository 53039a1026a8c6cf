#include "heed/tasks/piece_shares.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "heed/base/blanks.h"
#include "heed/base/utf8.h"
#include "heed/corpus/corpus.h"

namespace heed {
namespace {

// Characters that the piece has in the text, spaces not counted.
double visible_length(const Vocabulary& vocabulary, int id) {
  std::string text = vocabulary.decode({&id, 1});
  std::erase(text, ' ');
  return static_cast<double>(count_code_points(text));
}

// Lays pieces and tokens along one line of length 1, each in proportion to its characters, and notes which share of
// each piece lies over each token: into shares[token][first_piece + piece]. Both spell the same
// word unless the vocabulary has changed or lost characters, so that only the proportions can be trusted. A piece
// without characters (a space alone) is of the token that it opens.
void lay_side_by_side(std::span<const double> piece_lengths, std::span<const double> token_lengths,
                      std::size_t first_piece, std::span<std::vector<double>> shares) {
  const double pieces = std::reduce(piece_lengths.begin(), piece_lengths.end());
  const double tokens = std::reduce(token_lengths.begin(), token_lengths.end());
  constexpr double kRounding = 1e-9;
  double token_begin = 0;
  for (std::size_t t = 0; t < token_lengths.size(); ++t) {
    const bool last = t + 1 == token_lengths.size();
    const double token_end = last ? 1 : token_begin + token_lengths[t] / tokens;
    double begin = 0;
    for (std::size_t p = 0; p < piece_lengths.size(); ++p) {
      const double end = begin + (pieces > 0 ? piece_lengths[p] / pieces : 0);
      const double overlap = std::min(end, token_end) - std::max(begin, token_begin);
      double& share = shares[t][first_piece + p];
      if (overlap > kRounding) {
        share = overlap / (end - begin);
      } else if (piece_lengths[p] == 0 && begin > token_begin - kRounding && (last || begin < token_end - kRounding)) {
        share = 1;
      }
      begin = end;
    }
    token_begin = token_end;
  }
}

}  // namespace

std::vector<std::vector<double>> piece_shares(const Vocabulary& vocabulary, std::string_view sentence) {
  const std::vector<int> ids = vocabulary.encode(sentence);
  std::vector<double> piece_lengths;
  for (int id : ids) piece_lengths.push_back(visible_length(vocabulary, id));

  // Words one by one, so that a character lost in one moves nothing in the others; unless they cannot be told apart.
  std::vector<std::string_view> words = split_at_blanks(sentence);
  std::vector<int> word_of_piece = vocabulary.word_of_pieces(ids);
  if (ids.size() == words.size()) std::iota(word_of_piece.begin(), word_of_piece.end(), 0);  // "läu@@ ft" too
  const int last = word_of_piece.empty() ? -1 : *std::ranges::max_element(word_of_piece);
  if (last + 1 != static_cast<int>(words.size()) || !std::ranges::is_sorted(word_of_piece)) {
    words = {sentence};
    std::ranges::fill(word_of_piece, 0);
  }

  std::vector<std::vector<double>> shares(alignment_tokens(sentence).size(), std::vector<double>(ids.size(), 0));
  std::size_t token = 0, piece = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    std::vector<double> token_lengths;
    for (const std::string& text : alignment_tokens(words[w])) {
      token_lengths.push_back(static_cast<double>(count_code_points(text)));
    }
    const std::size_t begin = piece;
    while (piece < ids.size() && word_of_piece[piece] <= static_cast<int>(w)) ++piece;
    lay_side_by_side(std::span(piece_lengths).subspan(begin, piece - begin), token_lengths, begin,
                     std::span(shares).subspan(token));
    token += token_lengths.size();
  }
  return shares;
}

}  // namespace heed
