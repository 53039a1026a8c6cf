#include "heed/autograd/var.h"

#include <utility>

#include "heed/base/check.h"
#include "heed/ops/elementwise.h"

namespace heed {

Var::Var(Tensor value) : node_(std::make_shared<Node>(Node{std::move(value), {}, {}})) {}

Var Var::parameter(Tensor value) {
  Var var(std::move(value));
  var.node_->requires_grad = true;
  var.node_->is_parameter = true;
  return var;
}

Var Var::narrow(Tensor values, Tensor scales, BlockType blocks) {
  Var var(std::move(values));
  var.node_->scales = std::move(scales);
  var.node_->blocks = blocks;
  check_weight("Var::narrow", var);
  return var;
}

Var Var::adapted(Tensor weight, const LowRank& factors) {
  Var var(std::move(weight));
  var.node_->low_rank = std::make_shared<const LowRank>(factors);
  return var;
}

Var Var::activation(Tensor value) {
  Var var(std::move(value));
  var.node_->requires_grad = true;
  return var;
}

const Tensor& Var::value() const {
  static const Tensor none;
  return node_ ? node_->value : none;
}

const Tensor& Var::grad() const {
  static const Tensor none;
  return node_ ? node_->grad : none;
}

const Tensor& Var::scales() const {
  static const Tensor none;
  return node_ ? node_->scales : none;
}

const LowRank* Var::low_rank() const { return node_ ? node_->low_rank.get() : nullptr; }

void Var::add_grad(Tensor grad) const {
  if (!requires_grad() || grad.is_empty()) return;
  HEED_CHECK(same_shape(grad.view(), value().view()), "Var::add_grad: the value is {}, the gradient {}",
             describe(value().view()), describe(grad.view()));
  if (node_->is_parameter) {
    add_to(grad, grad_accumulator());
    return;
  }
  Tensor& sum = node_->grad;
  if (sum.is_empty()) {
    sum = std::move(grad);
    return;
  }
  // Two consumers may have been given the same tensor: the sum needs memory of its own.
  Tensor result = sum.unique() ? sum : Tensor::empty_like(sum);
  add(sum, grad, result);
  sum = std::move(result);
}

View Var::grad_accumulator() const {
  if (!requires_grad()) return {};
  if (node_->grad.is_empty()) {
    node_->grad = Tensor::zeros_like(value().view());
  } else if (!node_->is_parameter && !node_->grad.unique()) {
    node_->grad = node_->grad.clone();
  }
  return node_->grad;
}

Tensor Var::new_grad() const { return requires_grad() ? Tensor::empty_like(value().view()) : Tensor(); }

void Var::clear_grad() const {
  if (node_) node_->grad = {};
}

void Var::zero_grad() const {
  if (has_grad()) fill(node_->grad, 0);
}

void Var::set_value(const ConstView& value) const { copy(value, node_->value); }

void Var::convert(DType dtype) const {
  node_->value = node_->value.to(dtype);
  node_->grad = {};
}

Var Var::parameter_rows(Index begin, Index end, const Tape* tape) const {
  Var rows(value().rows(begin, end));
  if (!scales().is_empty()) rows.node_->scales = scales().rows(begin, end);
  rows.node_->blocks = blocks();
  if (const LowRank* factors = low_rank()) {
    const LowRank part{factors->down, factors->up.parameter_rows(begin, end, tape), factors->scale};
    rows.node_->low_rank = std::make_shared<const LowRank>(part);
  }
  if (tape != nullptr && requires_grad()) {
    grad_accumulator();
    rows.node_->requires_grad = true;
    rows.node_->is_parameter = true;
    rows.node_->grad = node_->grad.rows(begin, end);
  }
  return rows;
}

}  // namespace heed
