#include "heed/layers/initialise.h"

#include <cmath>

#include "heed/base/check.h"

namespace heed {

Initial Initial::xavier(Index outputs, Index inputs) {
  return uniform(std::sqrt(6.0 / static_cast<double>(outputs + inputs)));
}

void initialise(const View& view, const Initial& initial, Rng& rng) {
  HEED_CHECK(view.dtype == DType::f32 && view.contiguous(), "initialise: needs contiguous f32, but got {}",
             describe(view));
  float* const values = view.as<float>();
  switch (initial.kind) {
    case Initial::Kind::uniform:
      // Adding zero makes no element -0.
      for (Index i = 0; i < view.size(); ++i)
        values[i] = static_cast<float>((2 * rng.uniform() - 1) * initial.scale + 0.0);
      return;
    case Initial::Kind::normal:
      for (Index i = 0; i < view.size(); ++i) values[i] = static_cast<float>(rng.normal() * initial.scale);
      return;
    case Initial::Kind::constant:
      return fill(view, initial.scale);
  }
}

}  // namespace heed
