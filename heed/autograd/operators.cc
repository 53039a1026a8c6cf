#include "heed/autograd/operators.h"

#include <algorithm>
#include <array>
#include <vector>

#include "heed/autograd/record.h"
#include "heed/base/check.h"
#include "heed/ops/broadcast.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/normalise.h"
#include "heed/ops/softmax.h"

namespace heed {
namespace {

// Leading axes as rows: [..., D] as [R, D]. The view must be contiguous, as every tensor is.
template <typename V>
V as_rows(const V& view) {
  const Index width = view.shape[view.rank - 1];
  return heed::reshape(view, {width == 0 ? 0 : view.size() / width, width});
}
View as_rows(const Tensor& tensor) { return as_rows(tensor.view()); }
View as_rows_or_none(const Tensor& tensor) { return tensor.is_empty() ? View() : as_rows(tensor.view()); }

// The shape of x with another last extent.
Tensor empty_with_width(const Tensor& x, Index width) {
  switch (x.rank()) {
    case 1:
      return Tensor::empty(x.dtype(), {width});
    case 2:
      return Tensor::empty(x.dtype(), {x.dim(0), width});
    case 3:
      return Tensor::empty(x.dtype(), {x.dim(0), x.dim(1), width});
    default:
      return Tensor::empty(x.dtype(), {x.dim(0), x.dim(1), x.dim(2), width});
  }
}

// A view of the whole of a, or b repeated to a's shape.
Tensor repeated(const Var& b, const Tensor& a) {
  if (same_shape(b, a)) return b.value();
  Tensor y = Tensor::empty_like(a);
  broadcast(b, y);
  return y;
}

// Gives b the gradient of what was repeated to dy's shape.
void add_repeated_grad(const Var& b, const Tensor& dy) {
  if (!b.requires_grad()) return;
  if (same_shape(b, dy)) return b.add_grad(dy);
  const Tensor db = b.new_grad();
  sum_to_shape(dy, db);
  b.add_grad(db);
}

// What linear makes of maps whose weights have no factors.
Var products(const Context& context, const Var& x, std::span<const AffineVars> maps) {
  std::vector<AffineMap> read;
  std::vector<Var> inputs{x};
  Index outputs = 0;
  for (const auto& [weight, bias] : maps) {
    check_trains("linear", context, weight);
    read.push_back({weight, bias});
    inputs.insert(inputs.end(), {weight, bias});
    outputs += weight.dim(0);
  }
  Tensor y = empty_with_width(x.value(), outputs);
  linear(as_rows(x.value()), read, as_rows(y));
  return record(context, y, inputs, [x, outputs, kept = std::vector(maps.begin(), maps.end())](const Tensor& dy) {
    // From the last map to the first, as if each had been recorded by itself.
    Index end = outputs;
    for (auto map = kept.rbegin(); map != kept.rend(); ++map) {
      const auto& [weight, bias] = *map;
      const Index begin = end - weight.dim(0);
      const Tensor dx = x.new_grad();
      linear_backward(as_rows(x.value()), weight, slice(as_rows(dy), 1, begin, end), as_rows_or_none(dx),
                      weight.grad_accumulator(), bias.grad_accumulator());
      x.add_grad(dx);
      end = begin;
    }
  });
}

}  // namespace

Var linear(const Context& context, const Var& x, const Var& weight, const Var& bias) {
  const Var product = products(context, x, std::array{AffineVars{weight, bias}});
  const LowRank* factors = weight.low_rank();
  if (factors == nullptr) return product;
  const Var inner = scale(context, linear(context, x, factors->down, {}), factors->scale);
  return add(context, product, linear(context, inner, factors->up, {}));
}

Var linear(const Context& context, const Var& x, std::span<const AffineVars> maps) {
  const auto is_adapted = [](const AffineVars& map) { return map.weight.low_rank() != nullptr; };
  if (std::ranges::none_of(maps, is_adapted)) return products(context, x, maps);
  std::vector<Var> parts;
  for (const auto& [weight, bias] : maps) parts.push_back(linear(context, x, weight, bias));
  return concatenate(context, parts);
}

Var activate(const Context& context, Activation activation, const Var& x) {
  Tensor y = Tensor::empty_like(x.value().view());
  activate(activation, x, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    activate_backward(activation, x, dy, dx);
    x.add_grad(dx);
  });
}

Var activate_gated(const Context& context, Activation activation, const Var& x) {
  HEED_CHECK(x.rank() > 0, "activate_gated: needs x [..., 2 D], but it is {}", describe(x.value().view()));
  Tensor y = empty_with_width(x.value(), x.dim(x.rank() - 1) / 2);
  activate_gated(activation, as_rows(x.value()), as_rows(y));
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    activate_gated_backward(activation, as_rows(x.value()), as_rows(dy), as_rows(dx));
    x.add_grad(dx);
  });
}

Var add(const Context& context, const Var& a, const Var& b) {
  Tensor y = Tensor::empty_like(a.value().view());
  add(a, repeated(b, a.value()), y);
  return record(context, y, {a, b}, [=](const Tensor& dy) {
    a.add_grad(dy);
    add_repeated_grad(b, dy);
  });
}

Var multiply(const Context& context, const Var& a, const Var& b) {
  Tensor y = Tensor::empty_like(a.value().view());
  multiply(a, repeated(b, a.value()), y);
  return record(context, y, {a, b}, [=](const Tensor& dy) {
    if (a.requires_grad()) {
      const Tensor da = a.new_grad();
      multiply(dy, repeated(b, a.value()), da);
      a.add_grad(da);
    }
    if (b.requires_grad()) {
      const Tensor product = Tensor::empty_like(dy);
      multiply(dy, a, product);
      add_repeated_grad(b, product);
    }
  });
}

Var scale(const Context& context, const Var& x, double s) {
  Tensor y = Tensor::empty_like(x.value().view());
  scale(x, s, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    scale(dy, s, dx);
    x.add_grad(dx);
  });
}

Var softmax(const Context& context, const Var& x) {
  Tensor y = Tensor::empty_like(x.value().view());
  softmax(x, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    softmax_backward(y, dy, dx);
    x.add_grad(dx);
  });
}

Var reshape(const Context& context, const Var& x, std::initializer_list<Index> shape) {
  return record(context, x.value().reshape(shape), {x}, [=](const Tensor& dy) {
    Tensor dx = x.new_grad();
    copy(heed::reshape(dy.view(), {dy.size()}), heed::reshape(dx.view(), {dx.size()}));
    x.add_grad(dx);
  });
}

Var layer_norm(const Context& context, const Var& x, const Var& gamma, const Var& beta, double epsilon) {
  Tensor y = Tensor::empty_like(x.value().view());
  const View rows = as_rows(x.value());
  const Tensor mean = Tensor::empty(x.dtype(), {rows.shape[0]}), rstd = Tensor::empty(x.dtype(), {rows.shape[0]});
  layer_norm(rows, gamma, beta, epsilon, as_rows(y), mean, rstd);
  return record(context, y, {x, gamma, beta}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    layer_norm_backward(as_rows(x.value()), gamma, mean, rstd, as_rows(dy), as_rows_or_none(dx),
                        gamma.grad_accumulator(), beta.grad_accumulator());
    x.add_grad(dx);
  });
}

Var rms_norm(const Context& context, const Var& x, const Var& gamma, double epsilon) {
  Tensor y = Tensor::empty_like(x.value().view());
  const View rows = as_rows(x.value());
  const Tensor rstd = Tensor::empty(x.dtype(), {rows.shape[0]});
  rms_norm(rows, gamma, epsilon, as_rows(y), rstd);
  return record(context, y, {x, gamma}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    rms_norm_backward(as_rows(x.value()), gamma, rstd, as_rows(dy), as_rows_or_none(dx), gamma.grad_accumulator());
    x.add_grad(dx);
  });
}

Var slice(const Context& context, const Var& x, int axis, Index begin, Index end) {
  return record(context, Tensor::copy_of(heed::slice(x.value().view(), axis, begin, end)), {x}, [=](const Tensor& dy) {
    const Tensor dx = Tensor::zeros_like(x.value().view());
    copy(dy, heed::slice(dx.view(), axis, begin, end));
    x.add_grad(dx);
  });
}

Var gather(const Context& context, const Var& x, const Tensor& rows) {
  HEED_CHECK(x.rank() >= 1 && rows.rank() == 1, "gather: needs x [..., D] and rows [N], but they are {} and {}",
             describe(x.value().view()), describe(rows.view()));
  const Tensor y = Tensor::empty(x.dtype(), {rows.dim(0), x.dim(x.rank() - 1)});
  embedding(as_rows(x.value()), rows, 1, y);
  return record(context, y, {x},
                [=](const Tensor& dy) { embedding_backward(rows, 1, dy, as_rows(x.grad_accumulator())); });
}

Var embedding(const Context& context, const Var& table, const Tensor& ids, double factor) {
  HEED_CHECK(ids.rank() >= 1 && ids.rank() <= 3, "embedding: ids must have rank 1 to 3, but are {}",
             describe(ids.view()));
  check_trains("embedding", context, table);
  const Index width = Weight(table).inputs();
  const DType dtype = Weight(table).wide();
  Tensor y = ids.rank() == 1   ? Tensor::empty(dtype, {ids.dim(0), width})
             : ids.rank() == 2 ? Tensor::empty(dtype, {ids.dim(0), ids.dim(1), width})
                               : Tensor::empty(dtype, {ids.dim(0), ids.dim(1), ids.dim(2), width});
  const View flat_ids = heed::reshape(ids.view(), {ids.size()});
  embedding(table, flat_ids, factor, as_rows(y));
  return record(context, y, {table}, [table, ids, flat_ids, factor](const Tensor& dy) {
    embedding_backward(flat_ids, factor, as_rows(dy), table.grad_accumulator());
  });
}

Var add_positions(const Context& context, const Var& x, const Var& table, Index first) {
  HEED_CHECK(x.rank() == 3 && table.rank() == 2 && x.dim(2) == table.dim(1), "add_positions: x is {}, the table {}",
             describe(x.value().view()), describe(table.value().view()));
  const Index length = x.dim(1);
  HEED_CHECK(first >= 0 && first + length <= table.dim(0), "add_positions: positions {} to {} of a table of {}", first,
             first + length - 1, table.dim(0));
  Tensor y = Tensor::empty_like(x.value().view());
  const Var rows = table.parameter_rows(first, first + length, context.tape);
  for (Index b = 0; b < x.dim(0); ++b) add(select(x.value().view(), 0, b), rows, select(y.view(), 0, b));
  return record(context, y, {x, rows}, [x, rows](const Tensor& dy) {
    x.add_grad(dy);
    if (!rows.requires_grad()) return;
    for (Index b = 0; b < dy.dim(0); ++b) add_to(select(dy.view(), 0, b), rows.grad_accumulator());
  });
}

Var dropout(const Context& context, const Var& x, double p) {
  if (context.dropout == nullptr || p == 0) return x;
  const DropoutKey key = context.dropout->next();
  Tensor y = Tensor::empty_like(x.value().view());
  dropout(x, p, key, y);
  return record(context, y, {x}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    dropout(dy, p, key, dx);
    x.add_grad(dx);
  });
}

Var dropout_add(const Context& context, const Var& x, double p, const Var& residual) {
  if (context.dropout == nullptr || p == 0) return add(context, x, residual);
  const DropoutKey key = context.dropout->next();
  Tensor y = Tensor::empty_like(x.value().view());
  dropout_add(x, p, key, residual, y);
  return record(context, y, {x, residual}, [=](const Tensor& dy) {
    const Tensor dx = x.new_grad();
    dropout(dy, p, key, dx);
    x.add_grad(dx);
    residual.add_grad(dy);
  });
}

Var concatenate(const Context& context, std::span<const Var> parts, int axis) {
  HEED_CHECK(!parts.empty(), "concatenate: no parts");
  const int rank = parts[0].rank();
  HEED_CHECK(axis >= -1 && axis < rank && rank > 0, "concatenate: axis {} of {}", axis,
             describe(parts[0].value().view()));
  if (axis < 0) axis = rank - 1;
  ConstView like = parts[0].value().view();
  like.shape[axis] = 0;
  for (const Var& part : parts) {
    HEED_CHECK(part.rank() == rank, "concatenate: parts {} and {}", describe(parts[0].value().view()),
               describe(part.value().view()));
    like.shape[axis] += part.dim(axis);
  }
  Tensor y = Tensor::empty_like(like);
  const std::vector<Var> kept(parts.begin(), parts.end());
  // Calls f(part, the part's place in whole).
  const auto for_each_part = [kept, axis](const Tensor& whole, auto&& f) {
    Index begin = 0;
    for (const Var& part : kept) {
      f(part, heed::slice(whole.view(), axis, begin, begin + part.dim(axis)));
      begin += part.dim(axis);
    }
  };
  for_each_part(y, [](const Var& part, View place) { copy(part, place); });
  // record takes a list of inputs; any one that wants a gradient will do.
  Var wanting = kept[0];
  for (const Var& part : kept) {
    if (part.requires_grad()) wanting = part;
  }
  return record(context, y, {wanting}, [for_each_part](const Tensor& dy) {
    for_each_part(dy, [](const Var& part, View place) {
      if (part.requires_grad()) part.add_grad(Tensor::copy_of(place));
    });
  });
}

Var append_row(const Context& context, const Var& x, const Var& row) {
  HEED_CHECK(x.rank() == 3 && (row.empty() || (row.rank() == 3 && row.value().size() == x.dim(2))),
             "append_row: needs x [B, L, D] and row [1, 1, D] or none, but they are {} and {}",
             describe(x.value().view()), row.empty() ? "none" : describe(row.value().view()));
  const Index length = x.dim(1);
  Tensor y = Tensor::empty(x.dtype(), {x.dim(0), length + 1, x.dim(2)});
  copy(x, slice(y.view(), 1, 0, length));
  const View last = slice(y.view(), 1, length, length + 1);
  if (row.empty()) fill(last, 0);
  for (Index b = 0; b < x.dim(0) && !row.empty(); ++b) copy(row, slice(last, 0, b, b + 1));
  return record(context, y, {x, row}, [=](const Tensor& dy) {
    if (x.requires_grad()) x.add_grad(Tensor::copy_of(slice(dy.view(), 1, 0, length)));
    if (!row.requires_grad()) return;
    const View sum = row.grad_accumulator();
    for (Index b = 0; b < dy.dim(0); ++b) add_to(slice(slice(dy.view(), 0, b, b + 1), 1, length, length + 1), sum);
  });
}

Var swap_leading(const Context& context, const Var& x) {
  HEED_CHECK(x.rank() == 3, "swap_leading: needs rank 3, but x is {}", describe(x.value().view()));
  return record(context, Tensor::copy_of(transpose(x.value().view(), 0, 1)), {x},
                [=](const Tensor& dy) { x.add_grad(Tensor::copy_of(transpose(dy.view(), 0, 1))); });
}

Var stack_time(const Context& context, std::span<const Var> steps) {
  HEED_CHECK(!steps.empty(), "stack_time: no steps");
  const Index batch = steps[0].dim(0), width = steps[0].dim(1), length = static_cast<Index>(steps.size());
  Tensor y = Tensor::empty(steps[0].dtype(), {batch, length, width});
  for (Index t = 0; t < length; ++t) copy(steps[t], select(y.view(), 1, t));
  const std::vector<Var> kept(steps.begin(), steps.end());
  Var wanting = kept[0];
  for (const Var& step : kept) {
    if (step.requires_grad()) wanting = step;
  }
  return record(context, y, {wanting}, [kept](const Tensor& dy) {
    for (std::size_t t = 0; t < kept.size(); ++t) {
      if (kept[t].requires_grad()) kept[t].add_grad(Tensor::copy_of(select(dy.view(), 1, static_cast<Index>(t))));
    }
  });
}

}  // namespace heed
