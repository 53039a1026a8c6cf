#include "heed/autograd/attention.h"

#include <array>
#include <utility>

#include "heed/autograd/record.h"
#include "heed/base/check.h"
#include "heed/ops/attention/spec/visit_spec.h"

namespace heed {
namespace {

// The gradient tensors of the sources of q, k and v. Disjoint heads of one source (a packed projection) share one
// tensor; heads that overlap (the same memory as keys and as values) need one each, since each gradient is overwritten.
class SourceGrads {
 public:
  SourceGrads(const Heads& q, const Heads& k, const Heads& v) : parts_{{{&q}, {&k}, {&v}}} {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (!part.heads->source.requires_grad()) continue;
      part.shared_with = i;
      for (std::size_t earlier = 0; earlier < i; ++earlier) {
        if (parts_[earlier].shared_with == earlier && can_share(earlier, i)) part.shared_with = earlier;
      }
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].shared_with != i) continue;
      Index covered = 0;
      for (const Part& part : parts_) {
        if (part.shared_with == i) covered += part.heads->heads * part.heads->width;
      }
      const Var& source = parts_[i].heads->source;  // features that no head reads have gradient zero
      parts_[i].grad = covered == source.dim(2) ? source.new_grad() : Tensor::zeros_like(source.value().view());
    }
  }

  View view_for(std::size_t i) const {
    return parts_[i].shared_with == kNone ? View() : parts_[i].heads->view_of(parts_[parts_[i].shared_with].grad);
  }

  void deliver() {
    for (Part& part : parts_) {
      if (!part.grad.is_empty()) part.heads->source.add_grad(std::move(part.grad));
    }
  }

 private:
  static constexpr std::size_t kNone = 3;
  struct Part {
    const Heads* heads;
    std::size_t shared_with = kNone;  // the part whose tensor it writes to
    Tensor grad = {};
  };

  bool can_share(std::size_t owner, std::size_t candidate) const {
    const Heads& b = *parts_[candidate].heads;
    if (!(parts_[owner].heads->source == b.source)) return false;
    for (std::size_t i = 0; i < candidate; ++i) {
      const Heads& a = *parts_[i].heads;
      const bool apart = a.offset + a.heads * a.width <= b.offset || b.offset + b.heads * b.width <= a.offset;
      if (parts_[i].shared_with == owner && !apart) return false;
    }
    return true;
  }

  std::array<Part, 3> parts_;
};

bool is_value_of(const Var& var, const Tensor& tensor) {
  return var && tensor && var.value().view().data == tensor.view().data &&
         same_shape(var.value().view(), tensor.view());
}

// Calls f(Var, gradient) for each Var that a tensor of the spec is the value of.
template <typename F>
void for_learned(const AttentionSpec& spec, const std::vector<Var>& learned, AttentionGrad& grad, const F& f) {
  visit_parameters(spec, grad, [&](const char*, const char*, const Tensor& parameter, View& gradient) {
    for (const Var& var : learned) {
      if (is_value_of(var, parameter)) f(var, gradient);
    }
  });
}

void check_learned(const AttentionSpec& spec, const std::vector<Var>& learned) {
  AttentionGrad none;
  for (const Var& one : learned) {
    bool found = !one;
    for_learned(spec, {one}, none, [&](const Var&, View&) { found = true; });
    HEED_CHECK(found, "attention: no tensor that the spec can learn is the value {} of a Var", describe(one.value()));
  }
}

}  // namespace

Var attention(const Context& context, const Heads& q, const Heads& k, const Heads& v, AttentionSpec spec,
              const std::vector<Var>& learned, View weights) {
  check_learned(spec, learned);
  if (context.dropout != nullptr && spec.dropout.probability > 0) {
    const DropoutKey key = context.dropout->next();
    spec.dropout.seed = key.seed, spec.dropout.stream = key.stream;
  } else {
    spec.dropout = {};
  }
  const Index batch = q.source.dim(0), length = q.source.dim(1);
  Tensor out = Tensor::empty(q.source.dtype(), {batch, length, q.heads * v.width});
  const Tensor row_stat = Tensor::empty(q.source.dtype(), {batch, q.heads, length});
  const View out_heads = split_heads(out.view(), q.heads);
  attention(q.view_of(q.source.value()), k.view_of(k.source.value()), v.view_of(v.source.value()), spec,
            {.out = out_heads, .row_stat = row_stat, .weights = weights}, context.workspace);
  Workspace& workspace = context.workspace;
  std::vector<Var> inputs = learned;
  inputs.insert(inputs.end(), {q.source, k.source, v.source});
  return record(context, out, inputs, [=, &workspace](const Tensor& dy) {
    SourceGrads grads(q, k, v);
    AttentionGrad grad{.dq = grads.view_for(0), .dk = grads.view_for(1), .dv = grads.view_for(2)};
    for_learned(spec, learned, grad, [](const Var& var, View& gradient) { gradient = var.grad_accumulator(); });
    attention_backward(q.view_of(q.source.value()), k.view_of(k.source.value()), v.view_of(v.source.value()), spec,
                       {.out = out_heads, .row_stat = row_stat, .dout = split_heads(dy.view(), q.heads)}, grad,
                       workspace);
    grads.deliver();
  });
}

}  // namespace heed
