// How an operator is put on the tape.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/base/error.h"

namespace heed {

// Makes a Var of an operator's output y. If any input wants a gradient and there is a tape, y wants one too, and
// backward(dy) is recorded: it must pass gradients on to the inputs (add_grad or grad_accumulator). It runs only if a
// gradient has arrived at y.
template <typename Backward>
Var record(const Context& context, Tensor y, std::span<const Var> inputs, Backward backward) {
  const bool wanted = context.tape != nullptr &&
                      std::any_of(inputs.begin(), inputs.end(), [](const Var& v) { return v.requires_grad(); });
  if (!wanted) return Var(std::move(y));
  Var out = Var::activation(std::move(y));
  context.tape->record([out, backward = std::move(backward)] {
    if (!out.has_grad()) return;
    backward(out.grad());
    out.clear_grad();
  });
  return out;
}
template <typename Backward>
Var record(const Context& context, Tensor y, std::initializer_list<Var> inputs, Backward backward) {
  return record(context, std::move(y), std::span<const Var>(inputs.begin(), inputs.size()), std::move(backward));
}

// Throws heed::Error naming `function` where there is a tape and the weight is narrow: it has no gradient, and what it
// is multiplied with would get none through it.
void check_trains(std::string_view function, const Context& context, const Var& weight);

}  // namespace heed
