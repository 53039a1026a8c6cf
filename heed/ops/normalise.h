// Layer normalisation and root-mean-square normalisation over the last axis.
//
//   layer_norm(x, gamma, beta, 1e-5, y, mean, rstd);
//   layer_norm_backward(x, gamma, mean, rstd, dy, dx, dgamma, dbeta);
#pragma once

#include "heed/tensor/view.h"

namespace heed {

// y = gamma (x - mean) rstd + beta, where mean is a row's mean and rstd = 1 / sqrt(variance + eps) with the biased
// variance (the mean of the squared deviations, in a second pass): Ba, Kiros and Hinton 2016, equations 3 and 4;
// PyTorch's LayerNorm. A row is the last axis. x, y: contiguous, of one shape and type, f32 or f64; y may be x. gamma,
// beta: [width], or empty for ones and zeros. mean, rstd: [rows], or empty when no gradient will be asked for. eps >=
// 0. A row with a NaN is NaN. A row's bits do not depend on the others. Throws heed::Error.
void layer_norm(ConstView x, ConstView gamma, ConstView beta, double eps, View y, View mean, View rstd);

// With x^ = (x - mean) rstd and g = gamma dy, averages over a row:
//   dx = rstd (g - avg(g) - x^ avg(g x^))          overwritten; may be dy; empty: not wanted
//   dgamma += sum over rows of dy x^               accumulated; empty: not wanted
//   dbeta += sum over rows of dy                   accumulated; empty: not wanted
// mean and rstd are those of layer_norm. The sums have the same bits on any number of threads.
void layer_norm_backward(ConstView x, ConstView gamma, ConstView mean, ConstView rstd, ConstView dy, View dx,
                         View dgamma, View dbeta);

// y = gamma x rstd with rstd = 1 / sqrt(avg(x^2) + eps): Zhang and Sennrich 2019, equation 4. As layer_norm, without
// the centring.
void rms_norm(ConstView x, ConstView gamma, double eps, View y, View rstd);

// dx = rstd (g - x^ avg(g x^)) with x^ = x rstd, overwritten; dgamma += sum over rows of dy x^, accumulated.
void rms_norm_backward(ConstView x, ConstView gamma, ConstView rstd, ConstView dy, View dx, View dgamma);

}  // namespace heed
