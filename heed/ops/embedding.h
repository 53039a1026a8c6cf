// Rows of a table, by number.
//
//   embedding(table, ids, std::sqrt(d_model), y);
//   embedding_backward(ids, std::sqrt(d_model), dy, dtable);
#pragma once

#include "heed/ops/weight.h"

namespace heed {

// y[r, :] = scale * table[ids[r], :].
// table [V, D] and y are contiguous, f32 or f64; ids is contiguous i32 of any shape [...]; y has the shape [..., D].
// The rows of a narrow table, with y f32, are widened as they are looked up: the bits are those of one widened before.
// Throws heed::Error where shapes or types disagree and for an id outside [0, V), before anything is written.
void embedding(const Weight& table, ConstView ids, double scale, View y);

// dtable[ids[r], :] += scale * dy[r, :], in ascending r for any thread count. Shapes and errors as above.
void embedding_backward(ConstView ids, double scale, ConstView dy, View dtable);

}  // namespace heed
