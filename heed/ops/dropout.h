// Dropout whose mask is a pure function of a key and an element's position: it is drawn again in the backward pass
// instead of being stored, and threads cannot change it.
//
//   const DropoutKey key{seed, stream};            // a fresh stream for every call site and step
//   dropout(x, 0.1, key, y);
//   dropout(dy, 0.1, key, dx);                     // the gradient
#pragma once

#include <cstdint>

#include "heed/base/index.h"
#include "heed/tensor/view.h"

namespace heed {

// Which random numbers: philox(seed, stream, .).
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

// p in units of 2^-16, rounded: an element is dropped where its 16 random bits are below. Throws heed::Error unless 0
// <= p <= 1.
std::uint32_t dropout_threshold(double p);
// 1 / (1 - p) for the rounded p, so that the mean is kept; 0 where everything is dropped.
double dropout_scale(double p);

// Whether element `index` (row-major) is kept. Its bits are half index % 2 (the lower first) of word (index % 8) / 2 of
// philox(seed, stream, index / 8).
bool dropout_keeps(double p, DropoutKey key, Index index);

// y_i = x_i dropout_scale(p) where element i is kept, else 0 (Srivastava et al. 2014, inverted so that nothing is left
// to do when translating). x and y: contiguous, of one shape, f32 or f64; y may be x. Its own backward: give dy for x.
// A NaN stays where it is kept. Throws heed::Error.
void dropout(ConstView x, double p, DropoutKey key, View y);

// y = residual + dropout(x), in one pass; y may be x or residual. The gradient of x is dropout(dy), that of the
// residual is dy.
void dropout_add(ConstView x, double p, DropoutKey key, ConstView residual, View y);

}  // namespace heed
