#include "heed/optim/momentum.h"

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/tensor/rows.h"

namespace heed {

Momentum::Momentum(const MomentumOptions& options, std::vector<Var> parameters)
    : options_(options), parameters_(std::move(parameters)) {
  for (const Var& parameter : parameters_) {
    HEED_CHECK(parameter.dtype() == DType::f32, "Momentum: parameters must be f32, but one is {}",
               describe(parameter.value().view()));
    velocity_.push_back(Tensor::zeros_like(parameter.value().view()));
  }
}

void Momentum::step(double rate, double gradient_scale) {
  const float keep = static_cast<float>(options_.momentum), scale = static_cast<float>(gradient_scale);
  const float take = static_cast<float>(updates_ == 0 ? 1 : 1 - options_.dampening);
  const float penalty = static_cast<float>(options_.l2_penalty), size = static_cast<float>(rate);
  ++updates_;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!parameters_[p].has_grad()) continue;
    float* x = parameters_[p].value().data<float>();
    const float* gradient = parameters_[p].grad().data<float>();
    float* velocity = velocity_[p].data<float>();
    parallel_for(parameters_[p].value().size(), kElementsPerTask, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const float g = scale * gradient[i] + penalty * x[i];
        velocity[i] = keep * velocity[i] + take * g;
        x[i] -= size * (options_.nesterov ? g + keep * velocity[i] : velocity[i]);
      }
    });
  }
}

}  // namespace heed
