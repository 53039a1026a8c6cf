// Attention as its papers and tutorials tell it, on small numbers: each walk shows every intermediate matrix.
//
//   std::string text = to_text(explain_bahdanau(), 3);
//   std::string chinese = to_text(explain_bahdanau(Language::chinese), 3);
#pragma once

#include <span>
#include <string_view>

#include "heed/base/index.h"
#include "heed/tasks/explain/explanation.h"

namespace heed {

// Of the one example that has sizes to choose, positions.
struct ExampleSizes {
  Index length = 10, width = 8;
};

struct WorkedExample {
  std::string_view name;
  Explanation (*explain)(const ExampleSizes& sizes, Language language);
};

// All that are below, by name, in the order in which they are offered.
std::span<const WorkedExample> worked_examples();

// The one of this name. Throws heed::Error that lists the names where there is none, and as the example does.
Explanation explain_example(std::string_view name, const ExampleSizes& sizes = {},
                            Language language = Language::english);

// Two words, "Thinking Machines", with d_k = 64, in the six steps of The Illustrated Transformer: projections (q, k
// and v), scores (112 and 96 for the first word), scaled (14 and 12), weights (0.88 and 0.12), weighted (the values),
// output (their sum); then heads (a second one), concatenation, and projection by W_O.
Explanation explain_thinking_machines(Language language = Language::english);

// Additive attention of one decoder state over three encoder states (Bahdanau et al. 2015, section 3.1 and app. A.1.2):
// states, projected, tanh, energies, weights, context.
Explanation explain_bahdanau(Language language = Language::english);

// Global attention with the dot, general and concat scores (Luong et al. 2015, section 3.1 and eq. 5), on the states of
// explain_bahdanau: states, dot, general, concat, weights, contexts, attentional.
Explanation explain_luong(Language language = Language::english);

// The sinusoids of Vaswani et al. 2017, section 3.5, for `length` positions of `width` dimensions: frequencies, table,
// products (of every two positions), picture. Throws heed::Error for a length or width that is not from 1 to 1024.
Explanation explain_positions(Index length, Index width, Language language = Language::english);

// A causal mask, a padding mask, and both: inputs, scaled, causal, causal weights, padding, padding weights, both, both
// weights, output.
Explanation explain_masks(Language language = Language::english);

// Four heads of queries that share two of keys and values (Ainslie et al. 2023): inputs, sharing, scaled, weights,
// output, concatenation, cache.
Explanation explain_grouped_queries(Language language = Language::english);

// Keys met tile after tile with a running maximum and sum, so that no row of scores is ever whole (Dao et al. 2022,
// algorithm 1): inputs, tile-1, tile-2, tile-3, output, whole (the same by softmax of whole rows).
Explanation explain_flash_attention(Language language = Language::english);

// Which keys sparse patterns allow in a text of twelve positions, what they cost, and how far two layers see: full,
// causal, window, strided, dilated, global, cost, reach.
Explanation explain_windows(Language language = Language::english);

}  // namespace heed
