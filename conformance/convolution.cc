// CausalConvWithState.
#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/ops/activation.h"
#include "heed/ops/causal_convolution.h"
#include "operators.h"

namespace heed::conformance {

Outputs causal_conv_with_state(const Case& c) {
  c.allow_attributes({"activation"});
  const std::string activation = c.string("activation", "none");
  const bool silu = activation == "silu" || activation == "swish";
  HEED_CHECK(silu || activation == "none", "activation must be none, silu or swish, but is {}", printable(activation));
  const Array x = c.real(0), weight = c.real(1);
  HEED_CHECK(x.shape.size() == 3 && weight.shape.size() == 3 && weight.shape[1] == 1 && weight.shape[2] >= 1,
             "needs an input [B, C, L] and a weight [C, 1, K], but got {} and {}", text_of(x.shape),
             text_of(weight.shape));
  CausalConvolution operands{.x = as_tensor(x, "input"),
                             .weight = weight.elements.reshape({weight.shape[0], weight.shape[2]})};
  const Array bias = c.has(2) ? c.real(2) : Array(), past = c.has(3) ? c.real(3) : Array();
  if (c.has(2)) operands.bias = as_tensor(bias, "bias");
  if (c.has(3)) operands.state = as_tensor(past, "past_state");
  const Array y = make_array(x.elements.dtype(), x.shape);
  const Array present = make_array(x.elements.dtype(), {x.shape[0], x.shape[1], weight.shape[2] - 1});
  causal_convolution(operands, as_tensor(y, "output"), as_tensor(present, "present_state"));
  if (silu) activate(Activation::silu, y.elements, y.elements);
  return {y, present};
}

}  // namespace heed::conformance
