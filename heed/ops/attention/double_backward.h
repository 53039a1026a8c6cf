// The gradient of attention_backward: second derivatives, for gradient penalties, meta-learning and Hessian products.
//
//   attention(q, k, v, spec, {.out = o, .row_stat = stat}, workspace);
//   attention_backward(q, k, v, spec, {o, stat, dout}, {.dq = dq, .dk = dk, .dv = dv}, workspace);
//   // L depends on dq, dk and dv; ddq = dL/d(dq), and so on.
//   attention_double_backward(q, k, v, spec, {.row_stat = stat, .dout = dout}, {ddq, ddk, ddv},
//                             {.dq = gq, .dk = gk, .dv = gv, .ddout = gdout});
#pragma once

#include "heed/ops/attention/attention.h"

namespace heed {

// dL by what attention_backward gave; an empty view is zero. The shapes and types of q, k, v.
struct AttentionSecond {
  ConstView ddq{}, ddk{}, ddv{};
};

// dL by what attention_backward was given, through dq, dk and dv alone. Overwritten; an empty view is not wanted.
struct AttentionSecondGrad {
  View dq{}, dk{}, dv{};  // the shapes and types of q, k, v
  View ddout{};           // the shape and type of dout
};

// Computes the second derivatives with plain loops and sums in double: O(Lq Lk (D + Dv)) for each head, and memory for
// Lk rows. Any mask, bias (held constant), soft-cap, sinks, dropout, head layout and storage type; the score must be a
// dot product and the normaliser softmax. A row with no allowed key gives and gets zero. Throws heed::Error for another
// score or normaliser, for packed or paged sequences, for a drow_stat, and for shapes that disagree.
void attention_double_backward(ConstView q, ConstView k, ConstView v, const AttentionSpec& spec,
                               const AttentionSaved& saved, const AttentionSecond& second,
                               const AttentionSecondGrad& grad);

}  // namespace heed
