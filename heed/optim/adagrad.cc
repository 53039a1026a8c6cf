#include "heed/optim/adagrad.h"

#include <cmath>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/rows.h"

namespace heed {

Adagrad::Adagrad(const AdagradOptions& options, std::vector<Var> parameters)
    : options_(options), parameters_(std::move(parameters)) {
  for (const Var& parameter : parameters_) {
    HEED_CHECK(parameter.dtype() == DType::f32, "Adagrad: parameters must be f32, but one is {}",
               describe(parameter.value().view()));
    squares_.push_back(Tensor::zeros_like(parameter.value().view()));
  }
}

void Adagrad::step(double rate, double gradient_scale) {
  const float size = static_cast<float>(rate / (1 + static_cast<double>(updates_) * options_.rate_decay));
  const float scale = static_cast<float>(gradient_scale), penalty = static_cast<float>(options_.l2_penalty);
  const float epsilon = static_cast<float>(options_.epsilon);
  ++updates_;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!parameters_[p].has_grad()) continue;
    float* x = parameters_[p].value().data<float>();
    const float* gradient = parameters_[p].grad().data<float>();
    float* squares = squares_[p].data<float>();
    parallel_for(parameters_[p].value().size(), kElementsPerTask, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const float g = scale * gradient[i] + penalty * x[i];
        squares[i] += g * g;
        x[i] -= size * g / (std::sqrt(squares[i]) + epsilon);
      }
    });
  }
}

}  // namespace heed
