// Initial values of parameters. All are f32 and pure functions of the generator's state.
#pragma once

#include "heed/autograd/var.h"
#include "heed/base/random.h"

namespace heed {

// Uniform in +-sqrt(6 / (In + Out)) for a [Out, In] weight (Glorot and Bengio 2010, eq. 16). `outputs` and `inputs`
// override the extents, for a packed projection whose parts are initialised each on its own.
Var xavier_uniform(Rng& rng, Index rows, Index columns, Index outputs = 0, Index inputs = 0);
// Normal with the given standard deviation.
Var normal_parameter(Rng& rng, Index rows, Index columns, double deviation);
// Uniform in +-bound: PyTorch's initial values of RNN weights have bound 1 / sqrt(hidden).
Var uniform_parameter(Rng& rng, std::initializer_list<Index> shape, double bound);
// All elements the same: 0 for a bias, 1 for a norm's gain.
Var constant_parameter(std::initializer_list<Index> shape, double value);

}  // namespace heed
