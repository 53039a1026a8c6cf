// The initial values of parameters.
//
//   scope.matrix("weight", outputs, inputs, Initial::xavier(outputs, inputs));
#pragma once

#include "heed/base/index.h"
#include "heed/base/random.h"
#include "heed/tensor/view.h"

namespace heed {

// A distribution to draw from.
struct Initial {
  enum class Kind { uniform, normal, constant } kind = Kind::constant;
  double scale = 0;  // the bound, the standard deviation, or the value itself

  // In +-bound: PyTorch's bound is 1 / sqrt(hidden) for an RNN's parameters, 1 / sqrt(In) for a linear bias. Bound 0
  // gives zeros, but takes its draws.
  static Initial uniform(double bound) { return {Kind::uniform, bound}; }
  // Uniform in +-sqrt(6 / (Out + In)) for an [Out, In] weight (Glorot and Bengio 2010, eq. 16).
  static Initial xavier(Index outputs, Index inputs);
  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
  // All elements the same: 0 for a bias, 1 for a norm's gain. Takes no draws.
  static Initial constant(double value) { return {Kind::constant, value}; }
};

// Fills a contiguous f32 view in the order of its elements, which each take one draw.
void initialise(const View& view, const Initial& initial, Rng& rng);

}  // namespace heed
