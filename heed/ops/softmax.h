// Softmax and log-softmax over the last axis.
//
//   softmax(scores, weights);                                        // rows of weights sum to one
//   softmax_backward(weights, dweights, dscores);                    // from the result, not the input
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// y_j = exp(x_j - max x) / sum_k exp(x_k - max x) over the last axis. Contiguous views of one shape, f32 or f64; y may
// be x. Appending elements of -infinity to a row changes no bit of the others. A row with a NaN, with +infinity or of
// nothing but -infinity gives NaN (what a mask makes of a row without keys is attention's business). Throws
// heed::Error.
void softmax(ConstView x, View y);

// dx = y * (dy - sum(y * dy)), where y = softmax(x). dx is overwritten and may be dy.
void softmax_backward(ConstView y, ConstView dy, View dx);

// y_j = x_j - max x - log(sum_k exp(x_k - max x)). As softmax in everything else.
void log_softmax(ConstView x, View y);

// dx = dy - exp(y) * sum(dy), where y = log_softmax(x). dx is overwritten and may be dy.
void log_softmax_backward(ConstView y, ConstView dy, View dx);

}  // namespace heed
