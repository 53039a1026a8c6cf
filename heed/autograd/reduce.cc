#include "heed/autograd/reduce.h"

#include <string_view>

#include "heed/autograd/record.h"
#include "heed/base/check.h"
#include "heed/ops/broadcast.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/pooling.h"

namespace heed {
namespace {

// The shape of a view without an axis; its memory is not to be looked at.
ConstView without_axis(ConstView view, int axis) {
  for (int a = axis; a + 1 < view.rank; ++a) view.shape[a] = view.shape[a + 1];
  view.shape[--view.rank] = 1;
  return view;
}

// A contiguous view with one more axis, of extent 1.
View with_axis(View view, int axis) {
  const View before = view;
  Index stride = 1;
  ++view.rank;
  for (int a = view.rank - 1; a >= 0; --a) {
    view.shape[a] = a == axis ? 1 : before.shape[a > axis ? a - 1 : a];
    view.stride[a] = stride;
    stride *= view.shape[a];
  }
  return view;
}

// scale * the sum over an axis.
Var scaled_sum(const Context& context, const Var& x, int axis, double factor) {
  const Tensor y = Tensor::empty_like(without_axis(x.value().view(), axis));
  sum_to_shape(x, with_axis(y.view(), axis));
  if (factor != 1) scale(y, factor, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    broadcast(with_axis(dy.view(), axis), dx);
    if (factor != 1) scale(dx, factor, dx);
    x.add_grad(dx);
  });
}

void check_axis(std::string_view function, const Var& x, int axis) {
  HEED_CHECK(axis >= 0 && axis < x.rank(), "{}: axis {} of {}", function, axis, describe(x.value().view()));
}

}  // namespace

Var sum(const Context& context, const Var& x, int axis) {
  check_axis("sum", x, axis);
  return scaled_sum(context, x, axis, 1);
}

Var mean(const Context& context, const Var& x, int axis) {
  check_axis("mean", x, axis);
  return scaled_sum(context, x, axis, 1.0 / static_cast<double>(x.dim(axis)));
}

Var mean(const Context& context, const Var& x) {
  const Tensor y = Tensor::empty(x.dtype(), {});
  const double factor = 1.0 / static_cast<double>(x.value().size());
  sum_to_shape(x, y);
  scale(y, factor, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    broadcast(dy, dx);
    scale(dx, factor, dx);
    x.add_grad(dx);
  });
}

Var mean_pool(const Context& context, const Var& x, const Tensor& padding) {
  const Tensor y = Tensor::empty(x.dtype(), {x.dim(0), x.dim(2)});
  mean_pool(x, padding, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    mean_pool_backward(padding, dy, dx);
    x.add_grad(dx);
  });
}

Var max_pool(const Context& context, const Var& x, const Tensor& padding) {
  const Tensor y = Tensor::empty(x.dtype(), {x.dim(0), x.dim(2)});
  const Tensor at = Tensor::empty(DType::i32, {x.dim(0), x.dim(2)});
  max_pool(x, padding, y, at);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    max_pool_backward(at, dy, dx);
    x.add_grad(dx);
  });
}

}  // namespace heed
