// Gelu, Swish, SwiGLU, Softplus and Dropout.
#include "heed/ops/activation.h"

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/softmax.h"
#include "operators.h"

namespace heed::conformance {
namespace {

// x sigmoid(alpha x) = silu(alpha x) / alpha; half of x at alpha = 0.
Tensor swish_of(const Tensor& x, double alpha) {
  const Tensor y = Tensor::empty_like(x.view());
  if (alpha == 0) {
    scale(x, 0.5, y);
    return y;
  }
  scale(x, alpha, y);
  activate(Activation::silu, y, y);
  scale(y, 1 / alpha, y);
  return y;
}

}  // namespace

Outputs gelu(const Case& c) {
  c.allow_attributes({"approximate"});
  const std::string approximate = c.string("approximate", "none");
  HEED_CHECK(approximate == "none" || approximate == "tanh", "approximate must be none or tanh, but is {}",
             printable(approximate));
  const Array x = c.real(0);
  activate(approximate == "tanh" ? Activation::gelu_tanh : Activation::gelu, x.elements, x.elements);
  return {x};
}

Outputs swish(const Case& c) {
  c.allow_attributes({"alpha"});
  const Array x = c.real(0);
  return {{x.shape, swish_of(x.elements, c.number("alpha", 1))}};
}

Outputs swiglu(const Case& c) {
  c.allow_attributes({"alpha"});
  const Array a = c.real(0), b = c.real(1);
  HEED_CHECK(a.shape == b.shape, "SwiGLU: the inputs must have one shape, but have {} and {}", text_of(a.shape),
             text_of(b.shape));
  const Tensor y = swish_of(a.elements, c.number("alpha", 1));
  multiply(y, b.elements, y);
  return {{a.shape, y}};
}

// log(1 + exp(x)) is minus the log-softmax of the second of the two scores (x, 0).
Outputs softplus(const Case& c) {
  c.allow_attributes({});
  const Array x = c.real(0);
  const Tensor scores = Tensor::zeros(x.elements.dtype(), {x.elements.size(), 2});
  copy(x.elements, select(scores.view(), 1, 0));
  log_softmax(scores, scores);
  const Tensor y = Tensor::copy_of(select(scores.view(), 1, 1));
  scale(y, -1, y);
  return {{x.shape, y}};
}

// Inputs data, ratio and training_mode; before opset 12 the ratio was an attribute, and there was no training.
Outputs run_dropout(const Case& c) {
  c.allow_attributes({"seed", "ratio"});
  const Array x = c.real(0);
  const bool training = c.has(2) && c.scalar(2) != 0;
  const double ratio = c.has(1) ? c.scalar(1) : c.number("ratio", 0.5);
  if (training && ratio != 0) throw Skip("Dropout's random mask, which is numpy's; heed draws its own");
  const Array mask{x.shape, Tensor::empty(DType::boolean, {x.elements.size()})};
  fill(mask.elements, 1);
  dropout(x.elements, 0, {}, x.elements);
  return {x, mask};
}

}  // namespace heed::conformance
