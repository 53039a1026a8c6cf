// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/ops/class_loss.h"
#include "operators.h"

namespace heed::conformance {
namespace {

Reduction reduction_of(const Case& c) {
  const std::string name = c.string("reduction", "mean");
  if (name == "none") return Reduction::none;
  if (name == "sum") return Reduction::sum;
  HEED_CHECK(name == "mean", "reduction must be none, sum or mean, but is {}", printable(name));
  return Reduction::mean;
}

// The operands of both: scores [N, C, d1, d2, ...], targets [N, d1, d2, ...] and class weights [C], where d1, d2, ...
// become one axis.
struct Operands {
  explicit Operands(const Case& c) : scores(c.real(0)), targets(c.int32(1)) {
    c.allow_attributes({"reduction", "ignore_index"});
    const Extents& shape = scores.shape;
    HEED_CHECK(shape.size() >= 2, "the scores must be [N, C, ...], but have the shape {}", text_of(shape));
    Extents without_classes = shape;
    without_classes.erase(without_classes.begin() + 1);
    HEED_CHECK(targets.shape == without_classes, "the targets must have the shape {}, but have {}",
               text_of(without_classes), text_of(targets.shape));
    const Index positions = count_of(std::span(shape).subspan(2));
    flat_scores = scores.elements.reshape({shape[0], shape[1], positions});
    flat_targets = targets.elements.reshape({shape[0], positions});
    if (c.has(2)) weight = as_tensor(c.real(2), "the class weights");
    options.reduction = reduction_of(c);
    if (c.has_attribute("ignore_index")) {
      const Index index = c.integer("ignore_index", 0);
      HEED_CHECK(index == static_cast<std::int32_t>(index), "ignore_index {} is beyond 32 bits", index);
      options.ignore_index = static_cast<std::int32_t>(index);
    }
    loss = options.reduction == Reduction::none ? Tensor::empty_like(retyped(flat_targets.view()))
                                                : Tensor::empty(scores.elements.dtype(), {});
  }

  Array loss_array() const {
    return with_shape(loss, options.reduction == Reduction::none ? targets.shape : Extents());
  }

  Array scores, targets;
  Tensor flat_scores, flat_targets, weight, loss;
  ClassLossOptions options;

 private:
  ConstView retyped(ConstView view) const {
    view.dtype = scores.elements.dtype();
    return view;
  }
};

}  // namespace

Outputs negative_log_likelihood_loss(const Case& c) {
  const Operands o(c);
  nll_loss(o.flat_scores, o.flat_targets, o.weight, o.options, o.loss);
  return {o.loss_array()};
}

Outputs softmax_cross_entropy_loss(const Case& c) {
  const Operands o(c);
  const Tensor log_p = Tensor::empty_like(o.flat_scores.view());
  cross_entropy(o.flat_scores, o.flat_targets, o.weight, o.options, o.loss, log_p);
  return {o.loss_array(), with_shape(log_p, o.scores.shape)};
}

}  // namespace heed::conformance
