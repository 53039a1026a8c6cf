// Gradient descent with momentum (Polyak 1964), and Nesterov's accelerated form of it (Sutskever et al. 2013).
//
//   Momentum momentum({.momentum = 0.9, .nesterov = true}, parameters);
//   momentum.step(rate, gradient_scale);           // reads each parameter's gradient, changes its value
#pragma once

#include <vector>

#include "heed/autograd/var.h"

namespace heed {

struct MomentumOptions {
  double momentum = 0.9;
  double dampening = 0;  // of what every gradient but the first adds to the velocity
  bool nesterov = false;
  double l2_penalty = 0;  // g += l2_penalty x: the gradient of l2_penalty / 2 |x|^2
};

// With g the gradient, x the parameter and v its velocity (PyTorch's SGD, ONNX's Momentum):
//   v = momentum v + (1 - dampening) g, at the first update v = momentum v + g
//   x -= rate v, or with Nesterov's form x -= rate (g + momentum v)
// The first update is that of all parameters; PyTorch counts those of each by itself.
class Momentum {
 public:
  // f32 parameters, which it holds on to. Velocities start at zero. Throws heed::Error.
  Momentum(const MomentumOptions& options, std::vector<Var> parameters);

  // One update. Gradients count as multiplied by gradient_scale; a parameter without a gradient is left alone.
  // The same bits whatever the thread count.
  void step(double rate, double gradient_scale = 1);

  // What a checkpoint must keep: the velocity of each parameter and the number of updates.
  Index updates() const { return updates_; }
  void set_updates(Index updates) { updates_ = updates; }
  const Tensor& velocity(std::size_t parameter) const { return velocity_[parameter]; }

 private:
  MomentumOptions options_;
  std::vector<Var> parameters_;
  std::vector<Tensor> velocity_;
  Index updates_ = 0;
};

}  // namespace heed
