// Activation functions and their gradients.
//
//   activate(Activation::gelu, x, y);
//   activate_backward(Activation::gelu, x, dy, dx);
#pragma once

#include "heed/kernels/activation.h"  // enum class Activation
#include "heed/tensor/view.h"

namespace heed {

// y = f(x), element by element:
//   identity      x
//   relu          max(x, 0)
//   leaky_relu    x above 0, 0.01 x below      (Maas et al. 2013)
//   relu6         min(max(x, 0), 6)            (Howard et al. 2017)
//   gelu          x Phi(x), Phi the standard normal distribution (Hendrycks and Gimpel 2016; PyTorch's
//                 approximate="none")
//   gelu_tanh     x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))    (the same paper; PyTorch's approximate="tanh")
//   gelu_sigmoid  x sigmoid(1.702 x)                                   (the same paper; Hugging Face's quick_gelu)
//   silu          x sigmoid(x)
//   mish          x tanh(log(1 + exp(x)))      (Misra 2019)
//   tanh, sigmoid
// x and y: contiguous views of one shape, f32 or f64; y may be x. A NaN gives a NaN; gelu, gelu_tanh, gelu_sigmoid,
// silu and mish of -infinity are NaN, as 0 times infinity (PyTorch's too). An f32 result is within 5e-7 max(1, |f(x)|)
// of the exact function. Throws heed::Error.
void activate(Activation activation, ConstView x, View y);

// dx = f'(x) dy (overwritten), where f'(0) is 0 for relu and relu6, whose f'(6) is too, and 0.01 for leaky_relu. dx may
// be x or dy.
void activate_backward(Activation activation, ConstView x, ConstView dy, View dx);

// y = x[..., :D] f(x[..., D:]), the product of a gated linear unit (Shazeer 2020), with the bits of activate and
// multiply (elementwise.h). x contiguous [R, 2 D], y contiguous [R, D], of one type, f32 or f64. Throws heed::Error.
void activate_gated(Activation activation, ConstView x, View y);

// dx [R, 2 D] (overwritten) for dy [R, D].
void activate_gated_backward(Activation activation, ConstView x, ConstView dy, View dx);

}  // namespace heed
