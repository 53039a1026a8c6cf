// How one sequence goes on from the logits of its next token: what a beam search and a sampler have in common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// The ids with a meaning of their own; -1 where there is none.
struct SpecialTokens {
  std::int32_t begin = 2, end = 3, pad = 0, unknown = 1;

  // Whether a token is never produced.
  bool excludes(std::int32_t token) const { return token == pad || token == begin || token == unknown; }
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without begin and end
  double score = 0;                  // what hypotheses are ordered by
  std::vector<double> token_scores;  // log-probabilities of tokens, and last of the end token where it came
};

// One sequence, which has one row in a model's state at first.
class Search {
 public:
  virtual ~Search() = default;
  // What each of its rows reads next.
  virtual std::vector<std::int32_t> next_tokens() const = 0;
  // Goes on by one token, given the rows' logits, f32 [rows, vocabulary], which it may overwrite. Returns, for each of
  // its rows from now on, the row that it continues; none: the sequence has ended.
  virtual std::vector<Index> advance(const View& logits) = 0;
  // What came of it, best first, once it has ended.
  virtual std::vector<Hypothesis> take() = 0;
};

}  // namespace heed
