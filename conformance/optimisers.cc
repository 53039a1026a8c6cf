// Adam, Momentum and Adagrad of ai.onnx.preview.training.
#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/ops/elementwise.h"
#include "heed/optim/adagrad.h"
#include "heed/optim/adam.h"
#include "heed/optim/momentum.h"
#include "operators.h"

namespace heed::conformance {
namespace {

// The inputs are the rate R, the count of updates T, and then groups: all parameters, all gradients, and each kind of
// state for all. The outputs are the same groups without the gradients.
class Problem {
 public:
  Problem(const Case& c, Index groups) : rate(c.scalar(0)), updates(c.scalar(1)) {
    const Index rest = c.input_count() - 2;
    HEED_CHECK(rest > 0 && rest % groups == 0, "{} takes {} inputs for each parameter, but has {}", c.op(), groups,
               rest);
    HEED_CHECK(updates >= 0 && updates <= 1e15, "T must be a count of updates, but is {}", updates);
    count_ = rest / groups;
    for (Index i = 0; i < count_; ++i) {
      shapes_.push_back(c.input(2 + i).shape);
      parameters.push_back(Var::parameter(single(c, 2 + i, i)));
      copy(single(c, 2 + count_ + i, i), parameters.back().grad_accumulator());
    }
    for (Index g = 2; g < groups; ++g) {
      for (Index i = 0; i < count_; ++i) states_.push_back(single(c, 2 + g * count_ + i, i));
    }
  }

  // g += coefficient x, where the optimiser has no such option.
  void add_to_gradients(double coefficient) const {
    for (const Var& p : parameters) add_scaled_to(p.value(), coefficient, p.grad_accumulator());
  }

  // Puts the i-th kind of state into where the optimiser keeps it.
  template <typename Place>
  void load(Index kind, const Place& place) const {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      copy(states_[static_cast<std::size_t>(kind * count_) + i], place(i).view());
    }
  }

  template <typename... Places>
  Outputs outputs(const Places&... places) const {
    Outputs all;
    const auto add = [&](const auto& place) {
      for (std::size_t i = 0; i < parameters.size(); ++i) all.push_back(with_shape(place(i), shapes_[i]));
    };
    add([&](std::size_t i) { return parameters[i].value(); });
    (add(places), ...);
    return all;
  }

  double rate, updates;
  std::vector<Var> parameters;

 private:
  // A copy of an input as f32 [size], which has the shape of parameter i.
  Tensor single(const Case& c, Index input, Index i) const {
    const Array array = c.real(input);
    HEED_CHECK(array.shape == shapes_[static_cast<std::size_t>(i)], "{} must have the shape {}, but has {}",
               c.input_name(input), text_of(shapes_[static_cast<std::size_t>(i)]), text_of(array.shape));
    return array.elements.to(DType::f32);
  }

  Index count_ = 0;
  std::vector<Extents> shapes_;
  std::vector<Tensor> states_;
};

}  // namespace

// ONNX adds epsilon to the square root before the bias correction, heed (as the paper's algorithm 1) after it; and at
// T = 0 it corrects nothing.
Outputs adam(const Case& c) {
  c.allow_attributes({"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"});
  const Problem problem(c, 4);
  const double beta1 = c.number("alpha", 0.9), beta2 = c.number("beta", 0.999), t = std::max(problem.updates, 1.0);
  const double correction1 = 1 - std::pow(beta1, t), correction2 = std::sqrt(1 - std::pow(beta2, t));
  Adam optimiser({.beta1 = beta1, .beta2 = beta2, .epsilon = c.number("epsilon", 1e-6) / correction2},
                 problem.parameters);
  const auto first = [&](std::size_t i) { return optimiser.first_moment(i); };
  const auto second = [&](std::size_t i) { return optimiser.second_moment(i); };
  problem.load(0, first);
  problem.load(1, second);
  problem.add_to_gradients(c.number("norm_coefficient", 0));
  optimiser.set_updates(static_cast<Index>(t) - 1);
  optimiser.step(problem.updates > 0 ? problem.rate : problem.rate * correction1 / correction2);
  const double keep = 1 - c.number("norm_coefficient_post", 0);
  for (const Var& p : problem.parameters) scale(p.value(), keep, p.value());
  return problem.outputs(first, second);
}

Outputs momentum(const Case& c) {
  c.allow_attributes({"alpha", "beta", "mode", "norm_coefficient"});
  const std::string mode = c.string("mode", "standard");
  HEED_CHECK(mode == "standard" || mode == "nesterov", "mode must be standard or nesterov, but is {}", printable(mode));
  const Problem problem(c, 3);
  Momentum optimiser({.momentum = c.number("alpha", 0.9),
                      .dampening = 1 - c.number("beta", 1),
                      .nesterov = mode == "nesterov",
                      .l2_penalty = c.number("norm_coefficient", 0)},
                     problem.parameters);
  const auto velocity = [&](std::size_t i) { return optimiser.velocity(i); };
  problem.load(0, velocity);
  optimiser.set_updates(static_cast<Index>(problem.updates));
  optimiser.step(problem.rate);
  return problem.outputs(velocity);
}

Outputs adagrad(const Case& c) {
  c.allow_attributes({"decay_factor", "epsilon", "norm_coefficient"});
  const Problem problem(c, 3);
  Adagrad optimiser({.epsilon = c.number("epsilon", 1e-6),
                     .rate_decay = c.number("decay_factor", 0),
                     .l2_penalty = c.number("norm_coefficient", 0)},
                    problem.parameters);
  const auto squares = [&](std::size_t i) { return optimiser.squares(i); };
  problem.load(0, squares);
  optimiser.set_updates(static_cast<Index>(problem.updates));
  optimiser.step(problem.rate);
  return problem.outputs(squares);
}

}  // namespace heed::conformance
