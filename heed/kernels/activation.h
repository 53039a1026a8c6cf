// Activation functions on f32 arrays.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace heed {

// gelu is x Phi(x) with the exact normal distribution Phi (PyTorch's approximate="none"), gelu_tanh its tanh
// approximation, gelu_sigmoid x sigmoid(1.702 x) (Hugging Face's quick_gelu); silu is x sigmoid(x) (also called swish);
// leaky_relu has the slope 0.01 below zero, relu6 ends at 6, and mish is x tanh(log(1 + exp(x))).
enum class Activation { identity, relu, leaky_relu, relu6, gelu, gelu_tanh, gelu_sigmoid, silu, mish, tanh, sigmoid };
inline constexpr std::pair<std::string_view, Activation> kActivationNames[] = {
    {"identity", Activation::identity},
    {"relu", Activation::relu},
    {"leaky_relu", Activation::leaky_relu},
    {"relu6", Activation::relu6},
    {"gelu", Activation::gelu},
    {"gelu_tanh", Activation::gelu_tanh},
    {"gelu_sigmoid", Activation::gelu_sigmoid},
    {"silu", Activation::silu},
    {"mish", Activation::mish},
    {"tanh", Activation::tanh},
    {"sigmoid", Activation::sigmoid}};
inline std::span<const std::pair<std::string_view, Activation>> enum_names(Activation) { return kActivationNames; }

}  // namespace heed

namespace heed::kernels {

// y_i = f(x_i); y may be x.
void activate(Activation activation, const float* x, float* y, std::size_t n);
// dx_i = f'(x_i) dy_i; dx may be x or dy.
void activate_backward(Activation activation, const float* x, const float* dy, float* dx, std::size_t n);

}  // namespace heed::kernels
