// Initial values of parameters. All are f32 and pure functions of the generator's state.
#pragma once

#include "heed/autograd/var.h"
#include "heed/base/random.h"

namespace heed {

// Uniform in +-sqrt(6 / (In + Out)) for an [Out, In] weight (Glorot and Bengio 2010, eq. 16).
Var xavier_uniform(Rng& rng, Index outputs, Index inputs);
// Normal with the given standard deviation.
Var normal_parameter(Rng& rng, Index rows, Index columns, double deviation);
// Uniform in +-bound: PyTorch's bound is 1 / sqrt(hidden) for an RNN's parameters, 1 / sqrt(In) for a linear bias.
Var uniform_parameter(Rng& rng, std::initializer_list<Index> shape, double bound);
// All elements the same: 0 for a bias, 1 for a norm's gain.
Var constant_parameter(std::initializer_list<Index> shape, double value);

}  // namespace heed
