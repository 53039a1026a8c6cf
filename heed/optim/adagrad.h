// Adagrad (Duchi, Hazan and Singer 2011, the diagonal form): a rate for every parameter element, which falls with the
// gradients that it has seen.
//
//   Adagrad adagrad({.rate_decay = 1e-3}, parameters);
//   adagrad.step(rate, gradient_scale);            // reads each parameter's gradient, changes its value
#pragma once

#include <vector>

#include "heed/autograd/var.h"

namespace heed {

struct AdagradOptions {
  double epsilon = 1e-10;
  double rate_decay = 0;  // the rate of the update after `updates` others is rate / (1 + updates rate_decay)
  double l2_penalty = 0;  // g += l2_penalty x: the gradient of l2_penalty / 2 |x|^2
};

// With g the gradient, x the parameter and s the sum of its squared gradients (PyTorch's and ONNX's Adagrad):
//   s += g^2, x -= rate / (1 + updates rate_decay) g / (sqrt(s) + epsilon)
// Updates are those of all parameters; PyTorch counts those of each by itself.
class Adagrad {
 public:
  // f32 parameters, which it holds on to. Sums start at zero. Throws heed::Error.
  Adagrad(const AdagradOptions& options, std::vector<Var> parameters);

  // One update. Gradients count as multiplied by gradient_scale; a parameter without a gradient is left alone.
  // The same bits whatever the thread count.
  void step(double rate, double gradient_scale = 1);

  // What a checkpoint must keep: the sum of squares of each parameter and the number of updates.
  Index updates() const { return updates_; }
  void set_updates(Index updates) { updates_ = updates; }
  const Tensor& squares(std::size_t parameter) const { return squares_[parameter]; }

 private:
  AdagradOptions options_;
  std::vector<Var> parameters_;
  std::vector<Tensor> squares_;
  Index updates_ = 0;
};

}  // namespace heed
