#include "heed/layers/recurrent.h"

#include <string>

#include "heed/autograd/operators.h"
#include "heed/autograd/recurrent.h"
#include "heed/base/check.h"

namespace heed {
namespace {

struct Reading {
  Var states;  // [B, L, hidden]
  RecurrentState last;
};

// Which sentences have a token at position t; empty if all have.
Tensor active_at(const Tensor& lengths, Index t) {
  if (lengths.is_empty()) return {};
  const Tensor active = Tensor::empty(DType::boolean, {lengths.size()});
  bool all = true;
  for (Index b = 0; b < lengths.size(); ++b) all &= active.data<bool>()[b] = t < lengths.data<std::int32_t>()[b];
  return all ? Tensor() : active;
}

// One cell over the whole of x, first to last or last to first.
Reading read_sequence(const Context& context, const RecurrentCell& cell, const Var& x, const Tensor& lengths,
                      RecurrentState state, bool reverse) {
  const std::vector<Var> gates = split_time(context, cell.project(context, x));
  const Index length = x.dim(1);
  std::vector<Var> outputs(gates.size());
  bool padded = false;
  for (Index i = 0; i < length; ++i) {
    const Index t = reverse ? length - 1 - i : i;
    const Tensor active = active_at(lengths, t);
    padded = padded || !active.is_empty();
    state = cell.step(context, gates[t], state, active);
    outputs[t] = state.h;
  }
  const Var states = stack_time(context, outputs);
  return {padded ? zero_padding(context, states, lengths) : states, state};
}

void check_lengths(const Tensor& lengths, const Var& x) {
  if (lengths.is_empty()) return;
  HEED_CHECK(lengths.rank() == 1 && lengths.dtype() == DType::i32 && lengths.dim(0) == x.dim(0),
             "Recurrent: lengths must be i32 [B] for x {}, but are {}", describe(x.value().view()),
             describe(lengths.view()));
  for (Index b = 0; b < lengths.size(); ++b) {
    const Index length = lengths.data<std::int32_t>()[b];
    HEED_CHECK(length >= 0 && length <= x.dim(1), "Recurrent: the length of sentence {} is {}, but x is {}", b, length,
               describe(x.value().view()));
  }
}

}  // namespace

Recurrent::Recurrent(const ParameterScope& scope, const RecurrentOptions& options) : options_(options) {
  HEED_CHECK(options.layers >= 1, "Recurrent: layers must be positive, but is {}", options.layers);
  HEED_CHECK(options.dropout >= 0 && options.dropout < 1,
             "Recurrent: dropout must be at least 0 and below 1, but is {}", options.dropout);
  for (Index layer = 0; layer < options.layers; ++layer) {
    for (Index d = 0; d < directions(); ++d) {
      const bool reverse = options.direction == Direction::reverse || d == 1;
      cells_.emplace_back(scope, "_l" + std::to_string(layer) + (reverse ? "_reverse" : ""), options.cell,
                          layer == 0 ? options.inputs : width(), options.hidden);
    }
  }
}

RecurrentOutput Recurrent::forward(const Context& context, const Var& x, const Tensor& lengths,
                                   std::span<const RecurrentState> initial) const {
  HEED_CHECK(x.rank() == 3 && x.dim(1) >= 1 && x.dim(2) == options_.inputs,
             "Recurrent: x must be [B, L, {}] with at least one position, but is {}", options_.inputs,
             describe(x.value().view()));
  HEED_CHECK(initial.empty() || initial.size() == cells_.size(),
             "Recurrent: {} initial states for {} layers and directions", initial.size(), cells_.size());
  check_lengths(lengths, x);
  RecurrentOutput output{x, {}};
  for (std::size_t i = 0; i < cells_.size();) {
    const Var input = i == 0 ? x : dropout(context, output.states, options_.dropout);
    std::vector<Var> states;
    for (Index d = 0; d < directions(); ++d, ++i) {
      const bool reverse = options_.direction == Direction::reverse || d == 1;
      const RecurrentState start = initial.empty() ? cells_[i].zero_state(x.dtype(), x.dim(0)) : initial[i];
      Reading reading = read_sequence(context, cells_[i], input, lengths, start, reverse);
      states.push_back(reading.states);
      output.last.push_back(reading.last);
    }
    output.states = states.size() == 1 ? states[0] : concatenate(context, states);
  }
  return output;
}

std::vector<RecurrentState> Recurrent::step(const Context& context, const Var& x,
                                            std::span<const RecurrentState> states) const {
  HEED_CHECK(options_.direction == Direction::forward,
             "Recurrent::step: only the forward direction can go step by step");
  HEED_CHECK(states.size() == cells_.size(), "Recurrent::step: {} states for {} layers", states.size(), cells_.size());
  std::vector<RecurrentState> next;
  Var input = x;
  for (std::size_t layer = 0; layer < cells_.size(); ++layer) {
    if (layer > 0) input = dropout(context, next.back().h, options_.dropout);
    next.push_back(cells_[layer].step(context, cells_[layer].project(context, input), states[layer]));
  }
  return next;
}

}  // namespace heed
