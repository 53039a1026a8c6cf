// Activation functions on f32 arrays.
#pragma once

#include <cstddef>

namespace heed {

// gelu is x Phi(x) with the exact normal distribution Phi (PyTorch's approximate="none"), gelu_tanh its tanh
// approximation; silu is x sigmoid(x) (also called swish).
enum class Activation { identity, relu, gelu, gelu_tanh, silu, tanh, sigmoid };

}  // namespace heed

namespace heed::kernels {

// y_i = f(x_i); y may be x.
void activate(Activation activation, const float* x, float* y, std::size_t n) noexcept;
// dx_i = f'(x_i) dy_i; dx may be x or dy.
void activate_backward(Activation activation, const float* x, const float* dy, float* dx, std::size_t n) noexcept;

}  // namespace heed::kernels
