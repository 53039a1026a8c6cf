#include "heed/optim/adam.h"

#include <cmath>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/kernels/adam.h"
#include "heed/tensor/rows.h"

namespace heed {

Adam::Adam(const AdamOptions& options, std::vector<Var> parameters)
    : options_(options), parameters_(std::move(parameters)) {
  for (const Var& parameter : parameters_) {
    HEED_CHECK(parameter.dtype() == DType::f32, "Adam: parameters must be f32, but one is {}",
               describe(parameter.value().view()));
    first_.push_back(Tensor::zeros_like(parameter.value().view()));
    second_.push_back(Tensor::zeros_like(parameter.value().view()));
  }
}

void Adam::step(double rate, double gradient_scale) {
  ++updates_;
  const double t = static_cast<double>(updates_);
  const double correction1 = 1 - std::pow(options_.beta1, t), correction2 = std::sqrt(1 - std::pow(options_.beta2, t));
  const kernels::AdamStep step{.rate = static_cast<float>(rate * correction2 / correction1),
                               .beta1 = static_cast<float>(options_.beta1),
                               .beta2 = static_cast<float>(options_.beta2),
                               .epsilon = static_cast<float>(options_.epsilon * correction2),
                               .gradient_scale = static_cast<float>(gradient_scale)};
  const float keep = static_cast<float>(1 - rate * options_.weight_decay);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!parameters_[p].has_grad()) continue;
    float* x = parameters_[p].value().data<float>();
    const float* gradient = parameters_[p].grad().data<float>();
    float* m = first_[p].data<float>();
    float* v = second_[p].data<float>();
    parallel_for(parameters_[p].value().size(), kElementsPerTask, [&](Index begin, Index end) {
      if (keep != 1) {
        for (Index i = begin; i < end; ++i) x[i] *= keep;
      }
      kernels::adam_f32(step, gradient + begin, m + begin, v + begin, x + begin, end - begin);
    });
  }
}

double gradient_norm(const std::vector<Var>& parameters) {
  double total = 0;
  std::vector<double> partial;
  for (const Var& parameter : parameters) {
    if (!parameter.has_grad()) continue;
    const float* gradient = parameter.grad().data<float>();
    const Index count = parameter.grad().size();
    partial.assign(static_cast<std::size_t>(ceil_div(count, kElementsPerTask)), 0.0);
    parallel_for(count, kElementsPerTask, [&](Index begin, Index end) {
      double lanes[8] = {};  // independent sums, so that the additions need not wait for each other
      for (Index i = begin; i < end; ++i) lanes[i & 7] += static_cast<double>(gradient[i]) * gradient[i];
      partial[begin / kElementsPerTask] =
          ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    });
    for (double sum : partial) total += sum;
  }
  return std::sqrt(total);
}

}  // namespace heed
