#include "heed/ops/class_loss.h"

#include <cmath>

#include "heed/base/check.h"
#include "heed/base/parallel.h"
#include "heed/ops/softmax.h"
#include "heed/tensor/operands.h"
#include "heed/tensor/rows.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

struct ClassExtents {
  Index examples, classes, positions;
  Index size() const { return examples * positions; }
};

ClassExtents check_extents(std::string_view function, const ConstView& scores, const ConstView& targets,
                           const ConstView& weight, const ClassLossOptions& options) {
  HEED_CHECK((scores.rank == 2 || scores.rank == 3) && (scores.dtype == DType::f32 || scores.dtype == DType::f64) &&
                 scores.contiguous() && targets.rank == scores.rank - 1 && targets.dtype == DType::i32 &&
                 targets.contiguous() && targets.shape[0] == scores.shape[0] &&
                 (scores.rank == 2 || targets.shape[1] == scores.shape[2]),
             "{}: needs scores [N, C] or [N, C, S], f32 or f64, and i32 targets [N] or [N, S], all contiguous, but got "
             "{} and {}",
             function, describe(scores), describe(targets));
  const ClassExtents extents{scores.shape[0], scores.shape[1], scores.shape[2]};
  check_vector(function, "weight", weight, scores.dtype, extents.classes);
  const std::int32_t* target = targets.as<std::int32_t>();
  for (Index r = 0; r < extents.size(); ++r) {
    HEED_CHECK(target[r] == options.ignore_index || (target[r] >= 0 && target[r] < extents.classes),
               "{}: target {} of position {} is not one of {} classes", function, target[r], r, extents.classes);
  }
  return extents;
}

void check_loss(std::string_view function, const ConstView& loss, const ConstView& scores, const ConstView& targets,
                const ClassLossOptions& options) {
  const bool fits = options.reduction == Reduction::none ? same_shape(loss, targets) : loss.rank == 0;
  HEED_CHECK(!loss.empty() && fits && loss.dtype == scores.dtype && loss.contiguous(),
             "{}: the loss and its gradient must be of {}'s type and {}, but one is {}", function, describe(scores),
             options.reduction == Reduction::none ? "like the targets" : "of rank 0", describe(loss));
}

void check_like(std::string_view function, const ConstView& gradient, const ConstView& scores) {
  HEED_CHECK(
      !gradient.empty() && same_shape(gradient, scores) && gradient.dtype == scores.dtype && gradient.contiguous(),
      "{}: needs a contiguous view like {}, but got {}", function, describe(scores), describe(gradient));
}

// The weight of position r: 0 where it is ignored.
template <typename T>
double weight_of(const ConstView& targets, const ConstView& weight, const ClassLossOptions& options, Index r) {
  const std::int32_t target = targets.as<std::int32_t>()[r];
  if (target == options.ignore_index) return 0;
  return weight ? static_cast<double>(weight.as<T>()[target]) : 1.0;
}

// What a position's loss is multiplied by on its way into the result: 1, or 1 / sum of weights.
template <typename T>
double share(const ConstView& targets, const ConstView& weight, const ClassLossOptions& options) {
  if (options.reduction != Reduction::mean) return 1;
  double sum = 0;
  for (Index r = 0; r < targets.size(); ++r) sum += weight_of<T>(targets, weight, options, r);
  return sum != 0 ? 1 / sum : 0;
}

template <typename T>
void nll(const ClassExtents& extents, const ConstView& log_p, const ConstView& targets, const ConstView& weight,
         const ClassLossOptions& options, const View& loss) {
  double sum = 0;
  for (Index n = 0; n < extents.examples; ++n) {
    for (Index s = 0; s < extents.positions; ++s) {
      const Index r = n * extents.positions + s;
      const std::int32_t target = targets.as<std::int32_t>()[r];
      const bool counts = target != options.ignore_index;
      const double value =
          counts ? -weight_of<T>(targets, weight, options, r) *
                       static_cast<double>(log_p.as<T>()[(n * extents.classes + target) * extents.positions + s])
                 : 0.0;
      if (options.reduction == Reduction::none) loss.as<T>()[r] = static_cast<T>(value);
      sum += value;
    }
  }
  if (options.reduction != Reduction::none) *loss.as<T>() = static_cast<T>(sum * share<T>(targets, weight, options));
}

// to[n, c, s] = the gradient of position (n, s)'s loss, w[t] dloss_r, times factor(its index, [c = t]).
template <typename T, typename Factor>
void spread_gradient(const ClassExtents& extents, const ConstView& targets, const ConstView& weight,
                     const ClassLossOptions& options, const ConstView& dloss, const View& to, const Factor& factor) {
  const double part = share<T>(targets, weight, options);
  const Index width = extents.classes * extents.positions;
  parallel_for(extents.examples, rows_per_task(width), [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      for (Index c = 0; c < extents.classes; ++c) {
        for (Index s = 0; s < extents.positions; ++s) {
          const Index r = n * extents.positions + s, i = (n * extents.classes + c) * extents.positions + s;
          const double given = static_cast<double>(dloss.as<T>()[options.reduction == Reduction::none ? r : 0]);
          const double w = weight_of<T>(targets, weight, options, r);
          // An ignored position has no gradient, whatever its scores hold.
          to.as<T>()[i] =
              targets.as<std::int32_t>()[r] == options.ignore_index
                  ? T{0}
                  : static_cast<T>(w * part * given * factor(i, targets.as<std::int32_t>()[r] == c ? 1.0 : 0.0));
        }
      }
    }
  });
}

}  // namespace

void nll_loss(ConstView log_p, ConstView targets, ConstView weight, const ClassLossOptions& options, View loss) {
  check_operands("nll_loss", {{"log_p", log_p}, {"targets", targets}, {"weight", weight, kOptional}}, {{"loss", loss}});
  const ClassExtents extents = check_extents("nll_loss", log_p, targets, weight, options);
  check_loss("nll_loss", loss, log_p, targets, options);
  const auto run = log_p.dtype == DType::f32 ? nll<float> : nll<double>;
  run(extents, log_p, targets, weight, options, loss);
}

void nll_loss_backward(ConstView targets, ConstView weight, const ClassLossOptions& options, ConstView dloss,
                       View dlog_p) {
  check_operands("nll_loss_backward", {{"targets", targets}, {"weight", weight, kOptional}, {"dloss", dloss}},
                 {{"dlog_p", dlog_p}});
  const ClassExtents extents = check_extents("nll_loss_backward", dlog_p, targets, weight, options);
  check_loss("nll_loss_backward", dloss, dlog_p, targets, options);
  const auto factor = [](Index, double at_target) { return -at_target; };
  if (dlog_p.dtype == DType::f32) {
    spread_gradient<float>(extents, targets, weight, options, dloss, dlog_p, factor);
  } else {
    spread_gradient<double>(extents, targets, weight, options, dloss, dlog_p, factor);
  }
}

void cross_entropy(ConstView logits, ConstView targets, ConstView weight, const ClassLossOptions& options, View loss,
                   View log_p) {
  check_operands("cross_entropy", {{"logits", logits}, {"targets", targets}, {"weight", weight, kOptional}},
                 {{"loss", loss}, {"log_p", log_p, kOptional}});
  const ClassExtents extents = check_extents("cross_entropy", logits, targets, weight, options);
  check_loss("cross_entropy", loss, logits, targets, options);
  if (log_p) check_like("cross_entropy", log_p, logits);
  const Tensor scratch = log_p ? Tensor() : Tensor::empty_like(logits);
  const View kept = log_p ? log_p : scratch.view();
  if (extents.positions == 1) {
    const Index n = extents.examples, c = extents.classes;
    log_softmax(reshape(logits, {n, c}), reshape(kept, {n, c}));
  } else {
    const Tensor classes_last = Tensor::copy_of(transpose(logits, 1, 2));
    log_softmax(classes_last, classes_last);
    copy(transpose(classes_last.view(), 1, 2), kept);
  }
  const auto run = logits.dtype == DType::f32 ? nll<float> : nll<double>;
  run(extents, kept, targets, weight, options, loss);
}

void cross_entropy_backward(ConstView log_p, ConstView targets, ConstView weight, const ClassLossOptions& options,
                            ConstView dloss, View dlogits) {
  check_operands("cross_entropy_backward", {{"targets", targets}, {"weight", weight, kOptional}, {"dloss", dloss}},
                 {{"dlogits", dlogits}}, {{"log_p", log_p}});
  const ClassExtents extents = check_extents("cross_entropy_backward", log_p, targets, weight, options);
  check_loss("cross_entropy_backward", dloss, log_p, targets, options);
  check_like("cross_entropy_backward", dlogits, log_p);
  const auto run = [&]<typename T>(T) {
    spread_gradient<T>(extents, targets, weight, options, dloss, dlogits, [&](Index i, double at_target) {
      return std::exp(static_cast<double>(log_p.as<T>()[i])) - at_target;
    });
  };
  log_p.dtype == DType::f32 ? run(float{}) : run(double{});
}

}  // namespace heed
