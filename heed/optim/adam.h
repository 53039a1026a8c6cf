// Adam (Kingma and Ba 2015, algorithm 1), with decoupled weight decay where asked (Loshchilov and Hutter 2019).
//
//   Adam adam({.beta2 = 0.98}, parameters);
//   adam.step(rate, gradient_scale);               // reads each parameter's gradient, changes its value
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/var.h"

namespace heed {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0;  // x -= rate * weight_decay * x, before the step
};

class Adam {
 public:
  // f32 parameters, which it holds on to. Moments start at zero.
  Adam(const AdamOptions& options, std::vector<Var> parameters);

  // One update. Gradients count as multiplied by gradient_scale; a parameter without a gradient is left alone.
  // The same bits whatever the thread count.
  void step(double rate, double gradient_scale = 1);

  // What a checkpoint must keep: the moments of each parameter and the number of updates.
  Index updates() const { return updates_; }
  void set_updates(Index updates) { updates_ = updates; }
  const Tensor& first_moment(std::size_t parameter) const { return first_[parameter]; }
  const Tensor& second_moment(std::size_t parameter) const { return second_[parameter]; }

 private:
  AdamOptions options_;
  std::vector<Var> parameters_;
  std::vector<Tensor> first_, second_;
  Index updates_ = 0;
};

// The Euclidean norm of all gradients together, summed in double in a fixed order; NaN or infinity where one is not
// finite.
double gradient_norm(const std::vector<Var>& parameters);

}  // namespace heed
