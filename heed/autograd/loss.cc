#include "heed/autograd/loss.h"

#include "heed/autograd/record.h"

namespace heed {

LossResult linear_cross_entropy(const Context& context, const Var& x, const Var& weight, const Var& bias,
                                const Tensor& targets, const CrossEntropyOptions& options) {
  check_trains("linear_cross_entropy", context, weight);
  const Index width = x.dim(x.rank() - 1);
  const auto rows = [width](const Tensor& tensor) {
    return tensor.is_empty() ? View() : reshape(tensor.view(), {width == 0 ? 0 : tensor.size() / width, width});
  };
  const View flat_targets = reshape(targets.view(), {targets.size()});
  if (context.tape == nullptr)
    return linear_cross_entropy(rows(x.value()), weight, bias, flat_targets, options, {}, {}, {});
  const Tensor dx = x.new_grad();
  const LossResult result = linear_cross_entropy(rows(x.value()), weight, bias, flat_targets, options, rows(dx),
                                                 weight.grad_accumulator(), bias.grad_accumulator());
  context.tape->record([x, dx] { x.add_grad(dx); });
  return result;
}

}  // namespace heed
