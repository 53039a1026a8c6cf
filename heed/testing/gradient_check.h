// Holds an analytic gradient against finite differences in double.
//
//   Tensor x = random_tensor(DType::f64, {3, 4}, 1);
//   auto loss = [&] { activate(Activation::gelu, x, y); return weighted_sum(y, w); };
//   EXPECT_LT(gradient_error(loss, x, dx), 1e-7);
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "heed/tensor/tensor.h"

namespace heed::testing {

// Standard normal numbers times `scale`, a pure function of the seed.
Tensor random_tensor(DType dtype, std::initializer_list<Index> shape, std::uint64_t seed, double scale = 1.0);

// sum_i x_i w_i in double: a scalar loss whose gradient with respect to x is w.
double weighted_sum(const ConstView& x, const ConstView& w);

// Largest |g - (loss(x + h) - loss(x - h)) / 2h| / max(1, |g|) over the elements of x. `loss` reads x anew at each
// call; x is restored. f64 views; h = step * max(1, |x|).
double gradient_error(const std::function<double()>& loss, View x, ConstView gradient, double step = 1e-6);

// Largest |a - b| / max(1, |b|); a NaN on one side only gives infinity. Any floating types, the same shapes.
double largest_difference(const ConstView& a, const ConstView& b);

// The same bits in every element. Shapes and types must agree.
bool same_bits(const ConstView& a, const ConstView& b);

}  // namespace heed::testing
