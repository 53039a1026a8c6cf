// Attention as its papers and tutorials tell it, on small numbers: each walk shows every intermediate matrix.
//
//   std::string text = to_text(explain_bahdanau(), 3);
#pragma once

#include "heed/tasks/explain/explanation.h"

namespace heed {

// Two words, "Thinking Machines": embeddings, projections by W_Q, W_K, W_V, scores, scaled, weights and output Z in six
// steps, as The Illustrated Transformer walks; then a second head, the concatenation, and W_O.
Explanation explain_thinking_machines();

// Additive attention of one decoder state over three encoder states (Bahdanau et al. 2015, section 3.1 and app. A.1.2):
// states, projected, tanh, energies, weights, context.
Explanation explain_bahdanau();

// Global attention with the dot, general and concat scores (Luong et al. 2015, section 3.1 and eq. 5), on the states of
// explain_bahdanau: states, dot, general, concat, weights, contexts, attentional.
Explanation explain_luong();

// The sinusoids of Vaswani et al. 2017, section 3.5, for `length` positions of `width` dimensions: frequencies, table,
// products (of every two positions), picture. Throws heed::Error for a length or width that is not from 1 to 1024.
Explanation explain_positions(Index length, Index width);

}  // namespace heed
