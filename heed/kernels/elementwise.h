// Sums and products of f32 arrays, element by element. The output may be one of the inputs.
#pragma once

#include <cstddef>

namespace heed::kernels {

// y = a + b.
void add(const float* a, const float* b, float* y, std::size_t n);
// y = a - b.
void subtract(const float* a, const float* b, float* y, std::size_t n);
// y = a b.
void multiply(const float* a, const float* b, float* y, std::size_t n);
// y = s x.
void scale(const float* x, float s, float* y, std::size_t n);
// y += s x, fused where the machine can.
void add_scaled(const float* x, float s, float* y, std::size_t n);
// y += a b, fused where the machine can.
void add_product(const float* a, const float* b, float* y, std::size_t n);

}  // namespace heed::kernels
