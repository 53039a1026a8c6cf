// RNN, GRU and LSTM, by heed's layers.
#include "heed/layers/recurrent.h"

#include <algorithm>
#include <cctype>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/layers/drawn_parameters.h"
#include "operators.h"

namespace heed::conformance {
namespace {

// Places of the inputs; GRU and RNN have the first six.
enum RecurrentInput : Index { kX, kW, kR, kB, kSequenceLengths, kInitialH, kInitialC, kPeepholes };

// Blocks of `units` rows in another order: block i of the result is block order[i].
Tensor reorder(const ConstView& from, Index units, const std::vector<Index>& order) {
  const Tensor to = Tensor::empty_like(from);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Index begin = static_cast<Index>(i) * units;
    copy(slice(from, 0, order[i] * units, (order[i] + 1) * units), slice(to.view(), 0, begin, begin + units));
  }
  return to;
}

Direction direction_of(const Case& c) {
  const std::string name = c.string("direction", "forward");
  if (name == "forward") return Direction::forward;
  if (name == "reverse") return Direction::reverse;
  HEED_CHECK(name == "bidirectional", "direction must be forward, reverse or bidirectional, but is {}",
             printable(name));
  return Direction::both;
}

CellKind cell_of(const Case& c) {
  if (c.op() == "RNN") return CellKind::rnn;
  if (c.op() == "GRU") return c.integer("linear_before_reset", 0) != 0 ? CellKind::gru : CellKind::gru_reset_first;
  return c.has(kPeepholes) ? CellKind::lstm_peephole : CellKind::lstm;
}

// ONNX's blocks in the order of PyTorch's: z, r, h to r, z, n; and i, o, f, c to i, f, g, o.
std::vector<Index> gate_order(CellKind cell) {
  switch (gate_count(cell)) {
    case 1:
      return {0};
    case 3:
      return {1, 0, 2};
    default:
      return {0, 2, 3, 1};
  }
}

// Activations are named for each direction, in any case; heed has the default ones.
void check_activations(const Case& c, Index directions) {
  std::vector<std::string> usual;
  for (Index d = 0; d < directions; ++d) {
    if (c.op() != "RNN") usual.emplace_back("sigmoid");
    usual.emplace_back("tanh");
    if (c.op() == "LSTM") usual.emplace_back("tanh");
  }
  const std::vector<std::string> given = c.string_list("activations");
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::string name = given[i];
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    if (i < usual.size() && name != usual[i])
      throw Skip(fmt::format("{} with {} for its activation", c.op(), printable(given[i])));
  }
}

class Network {
 public:
  explicit Network(const Case& c)
      : c_(c), cell_(cell_of(c)), direction_(direction_of(c)), batch_first_(c.integer("layout", 0, 0, 1) == 1) {
    c.allow_attributes({"activations", "direction", "hidden_size", "input_forget", "layout", "linear_before_reset"});
    if (c.integer("input_forget", 0) != 0) throw Skip("LSTM with coupled input and forget gates");
    directions_ = direction_ == Direction::both ? 2 : 1;
    check_activations(c, directions_);
    const Tensor x = single(kX), r = single(kR);
    HEED_CHECK(x.rank() == 3 && r.rank() == 3, "X and R must be of rank 3, but have the shapes {} and {}",
               text_of(c.input(kX).shape), text_of(c.input(kR).shape));
    x_ = batch_first_ ? x : Tensor::copy_of(transpose(x.view(), 0, 1));
    hidden_ = c.integer("hidden_size", r.dim(2), 1, Index{1} << 32);
    const Index gates = gate_count(cell_) * hidden_, batch = x_.dim(0);
    expect(kW, {directions_, gates, x_.dim(2)});
    expect(kR, {directions_, gates, hidden_});
    expect(kB, {directions_, 2 * gates});
    expect(kSequenceLengths, {batch});
    const Extents state = batch_first_ ? Extents{batch, directions_, hidden_} : Extents{directions_, batch, hidden_};
    expect(kInitialH, state);
    expect(kInitialC, state);
    expect(kPeepholes, {directions_, 3 * hidden_});
  }

  Outputs run() const {
    Rng rng(1);
    DrawnParameters drawn(rng);
    const Recurrent layer(drawn, {.cell = cell_, .inputs = x_.dim(2), .hidden = hidden_, .direction = direction_});
    set_parameters(drawn.list());
    Workspace workspace;
    const Context context = Context::inference(workspace);
    const Tensor lengths = c_.has(kSequenceLengths) ? c_.int32(kSequenceLengths).elements : Tensor();
    const RecurrentOutput output = layer.forward(context, Var(x_), lengths, initial_states());
    Outputs outputs{sequence(output.states.value()), states(output.last, &RecurrentState::h)};
    if (c_.op() == "LSTM") outputs.push_back(states(output.last, &RecurrentState::c));
    return outputs;
  }

 private:
  Tensor single(Index i) const { return as_tensor(c_.real(i), c_.input_name(i)).to(DType::f32); }

  void expect(Index i, const Extents& shape) const {
    HEED_CHECK(!c_.has(i) || c_.input(i).shape == shape, "{} must have the shape {}, but has {}", c_.input_name(i),
               text_of(shape), text_of(c_.input(i).shape));
  }

  void set_parameters(const ParameterList& list) const {
    const Index gates = gate_count(cell_) * hidden_;
    const std::size_t each = list.size() / static_cast<std::size_t>(directions_);
    const Tensor w = single(kW), r = single(kR),
                 b = c_.has(kB) ? single(kB) : Tensor::zeros(DType::f32, {directions_, 2 * gates}),
                 p = c_.has(kPeepholes) ? single(kPeepholes) : Tensor();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto own = [&](const Tensor& packed) { return select(packed.view(), 0, static_cast<Index>(i / each)); };
      const auto is = [&](std::string_view start) { return list[i].name.starts_with(start); };
      const auto set = [&](const ConstView& from, const std::vector<Index>& order) {
        list[i].var.set_value(reorder(from, hidden_, order));
      };
      if (is("weight_ih")) set(own(w), gate_order(cell_));
      if (is("weight_hh")) set(own(r), gate_order(cell_));
      if (is("bias_ih")) set(slice(own(b), 0, 0, gates), gate_order(cell_));
      if (is("bias_hh")) set(slice(own(b), 0, gates, 2 * gates), gate_order(cell_));
      if (is("weight_peephole")) set(own(p), {0, 2, 1});  // i, o, f to i, f, o
    }
  }

  std::vector<RecurrentState> initial_states() const {
    std::vector<RecurrentState> states;
    if (!c_.has(kInitialH) && !c_.has(kInitialC)) return states;
    const auto own = [&](Index i, Index d) {
      return Var(c_.has(i) ? Tensor::copy_of(select(single(i).view(), batch_first_ ? 1 : 0, d))
                           : Tensor::zeros(DType::f32, {x_.dim(0), hidden_}));
    };
    for (Index d = 0; d < directions_; ++d) {
      states.push_back({own(kInitialH, d), c_.op() == "LSTM" ? own(kInitialC, d) : Var()});
    }
    return states;
  }

  // [B, L, D * H] as [L, D, B, H], or [B, L, D, H].
  Array sequence(const Tensor& of_layer) const {
    const View split = reshape(of_layer.view(), {of_layer.dim(0), of_layer.dim(1), directions_, hidden_});
    const Tensor y = Tensor::copy_of(batch_first_ ? split : transpose(transpose(split, 0, 1), 1, 2));
    return with_shape(y, {y.dim(0), y.dim(1), y.dim(2), y.dim(3)});
  }

  // [D, B, H], or [B, D, H].
  Array states(const std::vector<RecurrentState>& last, Var RecurrentState::*part) const {
    const Tensor all = Tensor::empty(DType::f32, {directions_, x_.dim(0), hidden_});
    for (Index d = 0; d < directions_; ++d) copy(last[static_cast<std::size_t>(d)].*part, select(all.view(), 0, d));
    const Tensor y = Tensor::copy_of(batch_first_ ? transpose(all.view(), 0, 1) : all.view());
    return with_shape(y, {y.dim(0), y.dim(1), y.dim(2)});
  }

  const Case& c_;
  CellKind cell_;
  Direction direction_;
  bool batch_first_;
  Index directions_ = 1, hidden_ = 0;
  Tensor x_;  // [B, L, W]
};

}  // namespace

Outputs recurrent(const Case& c) { return Network(c).run(); }

}  // namespace heed::conformance
