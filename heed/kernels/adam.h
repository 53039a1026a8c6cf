// One step of Adam over a run of parameters.
#pragma once

#include "heed/base/index.h"

namespace heed::kernels {

struct AdamStep {
  float rate;  // learning rate with the bias corrections folded in: rate * sqrt(1 - beta2^t) / (1 - beta1^t)
  float beta1, beta2;
  float epsilon;         // times sqrt(1 - beta2^t), to agree with the textbook form
  float gradient_scale;  // every gradient is multiplied by it first (clipping)
};

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; x -= rate * m / (sqrt(v) + epsilon), with g =
// gradient_scale * gradient. Lane-wise, so the bits do not depend on where a run is cut.
void adam_f32(const AdamStep& step, const float* gradient, float* m, float* v, float* x, Index count);

}  // namespace heed::kernels
