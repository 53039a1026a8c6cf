#include "heed/pretrained/sinusoids.h"

#include <cmath>

#include "heed/base/check.h"

namespace heed {

Tensor sines_and_cosines(Index first, Index length, Index width, Index steps) {
  HEED_CHECK(width % 2 == 0 && steps > 0, "sines_and_cosines: needs an even width and a step, but they are {} and {}",
             width, steps);
  const Tensor table = Tensor::empty(DType::f32, {length, width});
  const Index half = width / 2;
  for (Index i = 0; i < half; ++i) {
    const double rate = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(steps));
    for (Index p = 0; p < length; ++p) {
      const double angle = static_cast<double>(first + p) * rate;
      table.at<float>({p, i}) = static_cast<float>(std::sin(angle));
      table.at<float>({p, half + i}) = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

}  // namespace heed
