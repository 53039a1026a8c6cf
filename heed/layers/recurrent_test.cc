#include "heed/layers/recurrent.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using heed::testing::gradient_error;
using heed::testing::random_tensor;
using heed::testing::same_bits;
using heed::testing::weighted_sum;

Tensor lengths_of(const std::vector<std::int32_t>& lengths) {
  return Tensor::from(lengths, {static_cast<Index>(lengths.size())});
}

struct Case {
  CellKind cell;
  Direction direction;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  static constexpr const char* kDirections[] = {"forward", "reverse", "both"};
  const auto& [name, kind] = kCellKindNames[static_cast<std::size_t>(info.param.cell)];
  EXPECT_EQ(kind, info.param.cell);
  return std::string(name) + "_" + kDirections[static_cast<int>(info.param.direction)];
}

Recurrent make(ParameterSource& source, CellKind cell, Direction direction, Index layers) {
  return Recurrent(source, {.cell = cell, .inputs = 3, .hidden = 4, .layers = layers, .direction = direction});
}

Recurrent make(CellKind cell, Direction direction, Index layers) {
  DrawnParameters drawn(Rng(7));
  return make(drawn, cell, direction, layers);
}

class RecurrentTest : public ::testing::Test {
 protected:
  // Thousands of tiny operators: threads would only wait for each other.
  void SetUp() override { set_thread_count(1); }
  void TearDown() override { set_thread_count(threads_); }

  int threads_ = thread_count();
  Workspace workspace_;
  Context inference_ = Context::inference(workspace_);
};

class RecurrentOf : public RecurrentTest, public ::testing::WithParamInterface<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Cells, RecurrentOf,
    ::testing::Values(Case{CellKind::rnn, Direction::both}, Case{CellKind::gru, Direction::forward},
                      Case{CellKind::gru, Direction::both}, Case{CellKind::gru_reset_first, Direction::both},
                      Case{CellKind::lstm, Direction::reverse}, Case{CellKind::lstm, Direction::both},
                      Case{CellKind::lstm_peephole, Direction::both}),
    case_name);

TEST_P(RecurrentOf, GradientsAgreeWithFiniteDifferences) {
  DrawnParameters drawn(Rng(7));
  const Recurrent layer = make(drawn, GetParam().cell, GetParam().direction, 2);
  for (const auto& [name, var] : drawn.list()) var.convert(DType::f64);
  const Var x = Var::parameter(random_tensor(DType::f64, {3, 4, 3}, 1));
  const Tensor lengths = lengths_of({4, 2, 3});
  std::vector<RecurrentState> initial;
  ParameterList checked = drawn.list();
  checked.push_back({"x", x});
  const std::size_t states = layer.forward(inference_, x, lengths).last.size();
  const bool memory = gate_count(GetParam().cell) == 4;
  for (std::size_t i = 0; i < states; ++i) {
    const Var h = Var::parameter(random_tensor(DType::f64, {3, 4}, 10 + i));
    const Var c = memory ? Var::parameter(random_tensor(DType::f64, {3, 4}, 20 + i)) : Var();
    initial.push_back({h, c});
    checked.push_back({"initial h", h});
    if (memory) checked.push_back({"initial c", c});
  }
  const Tensor weight = random_tensor(DType::f64, {3, 4, layer.width()}, 2);
  const Tensor last_weight = random_tensor(DType::f64, {3, 4}, 4);

  const auto loss = [&] {
    const RecurrentOutput output = layer.forward(inference_, x, lengths, initial);
    double sum = weighted_sum(output.states, weight);
    for (const RecurrentState& state : output.last) {
      sum += weighted_sum(state.h, last_weight);
      if (state.c) sum += 2 * weighted_sum(state.c, last_weight);
    }
    return sum;
  };
  Tape tape;
  Context context{.tape = &tape, .workspace = workspace_};
  const RecurrentOutput output = layer.forward(context, x, lengths, initial);
  output.states.add_grad(weight.clone());
  for (const RecurrentState& state : output.last) {
    state.h.add_grad(last_weight.clone());
    if (state.c) state.c.add_grad(last_weight.clone()), state.c.add_grad(last_weight.clone());
  }
  tape.backward();
  for (const auto& [name, var] : checked) {
    ASSERT_TRUE(var.has_grad()) << name;
    EXPECT_LT(gradient_error(loss, var.value(), var.grad().view()), 1e-7) << name;
  }
}

TEST_P(RecurrentOf, ASentenceHasTheSameBitsAloneAndInAPaddedBatch) {
  const Recurrent layer = make(GetParam().cell, GetParam().direction, 2);
  const Tensor x = random_tensor(DType::f32, {3, 5, 3}, 1);
  fill(slice(select(x.view(), 0, 1), 0, 2, 5), 1e6);  // what padding holds must not matter
  const std::vector<std::int32_t> lengths{5, 2, 4};
  const RecurrentOutput batch = layer.forward(inference_, Var(x), lengths_of(lengths));
  for (Index b = 0; b < 3; ++b) {
    const Index length = lengths[static_cast<std::size_t>(b)];
    const Tensor own = Tensor::copy_of(slice(slice(x.view(), 0, b, b + 1), 1, 0, length));
    const RecurrentOutput alone = layer.forward(inference_, Var(own), {});
    const View in_batch = slice(batch.states.value().view(), 0, b, b + 1);
    EXPECT_TRUE(same_bits(Tensor::copy_of(slice(in_batch, 1, 0, length)).view(), alone.states.value().view())) << b;
    const Tensor padding = Tensor::copy_of(slice(in_batch, 1, length, 5));
    EXPECT_TRUE(same_bits(padding.view(), Tensor::zeros_like(padding.view()).view())) << b;
    for (std::size_t i = 0; i < alone.last.size(); ++i) {
      EXPECT_TRUE(same_bits(batch.last[i].h.value().rows(b, b + 1).view(), alone.last[i].h.value().view())) << b;
      if (!alone.last[i].c) continue;
      EXPECT_TRUE(same_bits(batch.last[i].c.value().rows(b, b + 1).view(), alone.last[i].c.value().view())) << b;
    }
  }
}

TEST_F(RecurrentTest, ReadingBackwardsIsReadingTheReversedSentence) {
  const Tensor x = random_tensor(DType::f32, {2, 5, 3}, 1), reversed = Tensor::empty_like(x.view());
  for (Index t = 0; t < 5; ++t) copy(select(x.view(), 1, t), select(reversed.view(), 1, 4 - t));
  for (const auto& [name, cell] : kCellKindNames) {
    DrawnParameters drawn(Rng(7));
    const Recurrent layer = make(drawn, cell, Direction::both, 1);
    const ParameterList& list = drawn.list();
    const std::size_t half = list.size() / 2;  // the forward direction's parameters, then the reverse one's
    for (std::size_t i = 0; i < half; ++i) {
      EXPECT_EQ(list[i].name + "_reverse", list[half + i].name);
      list[half + i].var.set_value(list[i].var);
    }
    const Tensor states = layer.forward(inference_, Var(x), {}).states.value();
    const Tensor mirrored = layer.forward(inference_, Var(reversed), {}).states.value();
    for (Index t = 0; t < 5; ++t) {
      const Tensor forward = Tensor::copy_of(slice(select(states.view(), 1, t), 1, 0, 4));
      const Tensor backward = Tensor::copy_of(slice(select(mirrored.view(), 1, 4 - t), 1, 4, 8));
      EXPECT_TRUE(same_bits(forward.view(), backward.view())) << name << " " << t;
    }
  }
}

TEST_F(RecurrentTest, StepByStepIsTheWholeSequence) {
  const Tensor x = random_tensor(DType::f32, {2, 5, 3}, 1), zeros = Tensor::zeros(DType::f32, {2, 4});
  for (const auto& [name, cell] : kCellKindNames) {
    const Recurrent layer = make(cell, Direction::forward, 3);
    const RecurrentOutput whole = layer.forward(inference_, Var(x), {});
    std::vector<RecurrentState> states(3, {Var(zeros), Var(zeros)});
    for (Index t = 0; t < 5; ++t) {
      states = layer.step(inference_, Var(Tensor::copy_of(select(x.view(), 1, t))), states);
      const Tensor expected = Tensor::copy_of(select(whole.states.value().view(), 1, t));
      EXPECT_TRUE(same_bits(states.back().h.value().view(), expected.view())) << name << " " << t;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(same_bits(states[i].h.value().view(), whole.last[i].h.value().view())) << name;
    }
  }
}

TEST(Recurrent, ParametersHaveTorchsNamesAndShapes) {
  DrawnParameters drawn(Rng(1));
  const Recurrent layer(ParameterScope(drawn) / "encoder",
                        {.cell = CellKind::lstm, .inputs = 3, .hidden = 4, .layers = 2, .direction = Direction::both});
  const ParameterList& list = drawn.list();
  ASSERT_EQ(list.size(), 16u);
  const std::vector<std::string> first{"encoder.weight_ih_l0", "encoder.weight_hh_l0", "encoder.bias_ih_l0",
                                       "encoder.bias_hh_l0", "encoder.weight_ih_l0_reverse"};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(list[i].name, first[i]);
  EXPECT_EQ(list[15].name, "encoder.bias_hh_l1_reverse");
  EXPECT_TRUE(same_shape(list[0].var, Tensor::zeros(DType::f32, {16, 3}).view()));
  EXPECT_TRUE(same_shape(list[8].var, Tensor::zeros(DType::f32, {16, 8}).view()));  // layer 1 reads both directions
  EXPECT_TRUE(same_shape(list[2].var, Tensor::zeros(DType::f32, {16}).view()));
}

TEST(Recurrent, ASentenceOfLengthZeroKeepsItsInitialState) {
  Rng rng(1);
  DrawnParameters drawn(rng);
  const Recurrent layer(drawn, {.cell = CellKind::gru, .inputs = 3, .hidden = 4});
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Tensor start = random_tensor(DType::f32, {2, 4}, 1);
  const RecurrentOutput output =
      layer.forward(context, Var(random_tensor(DType::f32, {2, 3, 3}, 2)), lengths_of({0, 3}), {{{Var(start), {}}}});
  EXPECT_TRUE(same_bits(output.last[0].h.value().rows(0, 1).view(), start.rows(0, 1).view()));
  EXPECT_FALSE(same_bits(output.last[0].h.value().rows(1, 2).view(), start.rows(1, 2).view()));
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  Rng rng(1);
  Workspace workspace;
  const Context context = Context::inference(workspace);
  DrawnParameters drawn(rng);
  EXPECT_THROW(Recurrent(drawn, {.inputs = 0, .hidden = 4}), Error);
  EXPECT_THROW(Recurrent(drawn, {.inputs = 3, .hidden = 4, .layers = 0}), Error);
  EXPECT_THROW(Recurrent(drawn, {.inputs = 3, .hidden = 4, .dropout = 1}), Error);
  const Recurrent layer(drawn, {.inputs = 3, .hidden = 4, .direction = Direction::both});
  const Var x(random_tensor(DType::f32, {2, 3, 3}, 2));
  EXPECT_THROW(layer.forward(context, Var(random_tensor(DType::f32, {2, 3, 4}, 2)), {}), Error);
  EXPECT_THROW(layer.forward(context, x, lengths_of({3, 4})), Error);
  EXPECT_THROW(layer.forward(context, x, lengths_of({3, -1})), Error);
  EXPECT_THROW(layer.forward(context, x, lengths_of({3})), Error);
  const std::vector<RecurrentState> one(1);
  EXPECT_THROW(layer.forward(context, x, {}, one), Error);
  EXPECT_THROW(layer.step(context, Var(random_tensor(DType::f32, {2, 3}, 2)), one), Error);
}

}  // namespace
}  // namespace heed
