// How one sequence goes on from the logits of its next token: what a beam search and a sampler have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// The ids with a meaning of their own. By default those of heed's own vocabularies.
struct SpecialTokens {
  std::int32_t begin = 2;             // what a sequence without a prompt begins with
  std::vector<std::int32_t> ends{3};  // each of which ends a sequence; none: nothing does
  // Never produced: pad, begin and unknown.
  std::vector<std::int32_t> never{0, 2, 1};
  // Nor are ids from here up: rows of a model's table that are no piece of its vocabulary.
  std::int32_t beyond = std::numeric_limits<std::int32_t>::max();
  // What is put behind a begin token that stands alone, as if it were certain, where a model was made to write it; -1:
  // any token.
  std::int32_t first = -1;
  // The end that is put last, as if it were certain, where there is room for one token more; -1: any token.
  std::int32_t last = -1;
  // Not produced as the first token that is not put there.
  std::vector<std::int32_t> never_first{};

  bool is_end(std::int32_t token) const { return std::ranges::find(ends, token) != ends.end(); }
  bool excludes(std::int32_t token) const { return token >= beyond || std::ranges::find(never, token) != never.end(); }
  // Whether `first` is put behind so many tokens, the begin token or the prompt counted.
  bool puts_first(std::size_t came) const { return first >= 0 && came == 1; }
  // Whether the next token, behind so many that were given and written, is the first that is not put there.
  bool is_first(std::size_t given, std::size_t written) const { return written == (puts_first(given) ? 1 : 0); }
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without begin and end
  double score = 0;                  // what hypotheses are ordered by
  std::vector<double> token_scores;  // log-probabilities of tokens, and last of the end token where it came
  std::int32_t end = -1;             // the end token; -1: none came
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
