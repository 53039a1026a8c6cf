// From a vocabulary's pieces to the words that alignments count.
//
//   const std::vector<std::vector<double>> shares = piece_shares(vocabulary, "Der Mann ruft an.");
//   shares[4][p];                                  // how much of piece p is the full stop's
#pragma once

#include <string_view>
#include <vector>

#include "heed/text/vocabulary.h"

namespace heed {

// The part of each alignment token of `sentence` (alignment_tokens of heed/corpus/corpus.h) that each piece of
// vocabulary.encode(sentence) covers: [token][piece], as a share of the piece, told from the characters that they have
// between spaces. The shares of a piece add up to 1.
std::vector<std::vector<double>> piece_shares(const Vocabulary& vocabulary, std::string_view sentence);

}  // namespace heed
