#include "heed/ops/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::same_bits;
using testing::weighted_sum;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Every third row waits.
Tensor some_active(Index batch) {
  Tensor active = Tensor::empty(DType::boolean, {batch});
  for (Index b = 0; b < batch; ++b) active.data<bool>()[b] = b % 3 != 1;
  return active;
}

// One step of a cell: inputs, results and gradients by name, so that the properties below are stated once for every
// cell.
struct Cell {
  const char* name;
  std::vector<Tensor> inputs;    // whose gradients are in `gradients`, at the same place
  std::vector<Tensor> outputs;   // h and, for the LSTM, c
  std::vector<Tensor> upstream;  // the outputs' gradients
  std::vector<Tensor> gradients;
  std::function<void()> forward, backward;

  double loss() const {
    forward();
    double sum = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) sum += weighted_sum(outputs[i], upstream[i]);
    return sum;
  }
};

struct Options {
  DType dtype = DType::f64;
  Index batch = 4;
  Index units = 3;
  bool masked = false;
};

Tensor draw(const Options& o, Index rows, Index parts, std::uint64_t seed) {
  const Tensor x = random_tensor(DType::f32, {rows, parts * o.units}, seed);
  return o.dtype == DType::f32 ? x : x.to(DType::f64);
}

Tensor blank(const Options& o, Index parts) { return Tensor::zeros(o.dtype, {o.batch, parts * o.units}); }

Cell gru(const Options& o) {
  const Tensor x = draw(o, o.batch, 3, 1), u = draw(o, o.batch, 3, 2), h_prev = draw(o, o.batch, 1, 3);
  const Tensor active = o.masked ? some_active(o.batch) : Tensor(), saved = blank(o, kGruSaved), h = blank(o, 1);
  const Tensor dh = draw(o, o.batch, 1, 4), dx = blank(o, 3), du = blank(o, 3), dh_prev = blank(o, 1);
  const auto step = [=] { return GruStep{x, u, h_prev, active}; };
  return {"gru",
          {x, u, h_prev},
          {h},
          {dh},
          {dx, du, dh_prev},
          [=] { gru_cell(step(), h, saved); },
          [=] {
            gru_cell_backward(step(), saved, dh, {dx, du, dh_prev});
          }};
}

// candidate_h = reset_h w, w a diagonal matrix: the matrix product between the two halves.
Cell reset_gru(const Options& o) {
  const Tensor x = draw(o, o.batch, 3, 1), u = draw(o, o.batch, 2, 2), h_prev = draw(o, o.batch, 1, 3);
  const Tensor active = o.masked ? some_active(o.batch) : Tensor(), saved = blank(o, kGruResetSaved), h = blank(o, 1);
  const Tensor reset = blank(o, 1), candidate = blank(o, 1), dreset = blank(o, 1);
  const Tensor dh = draw(o, o.batch, 1, 4), dx = blank(o, 3), du = blank(o, 2), dh_prev = blank(o, 1);
  const auto step = [=] { return GruStep{x, u, h_prev, active}; };
  const auto product = [](ConstView from, View to) {
    for (Index b = 0; b < from.shape[0]; ++b) {
      for (Index j = 0; j < from.shape[1]; ++j) {
        const double w = 0.5 + 0.125 * static_cast<double>(j % 5);
        if (from.dtype == DType::f64) to.at<double>({b, j}) = w * from.at<double>({b, j});
        if (from.dtype == DType::f32) to.at<float>({b, j}) = static_cast<float>(w) * from.at<float>({b, j});
      }
    }
  };
  const auto forward = [=] {
    gru_reset(step(), reset, saved);
    product(reset, candidate);
    gru_update(step(), candidate, h, saved);
  };
  const auto backward = [=] {
    gru_update_backward(step(), saved, dh, {dx, dh_prev});
    product(slice(dx, 1, 2 * o.units, 3 * o.units), dreset);
    gru_reset_backward(step(), saved, dreset, {dx, dh_prev});
    copy(slice(dx, 1, 0, 2 * o.units), du);
  };
  return {"reset_gru", {x, u, h_prev}, {h}, {dh}, {dx, du, dh_prev}, forward, backward};
}

Cell lstm_with(const Options& o, bool peepholes) {
  const Tensor x = draw(o, o.batch, 4, 1), u = draw(o, o.batch, 4, 2), c_prev = draw(o, o.batch, 1, 3);
  const Tensor h_prev = draw(o, o.batch, 1, 5), active = o.masked ? some_active(o.batch) : Tensor();
  const Tensor p = peepholes ? draw(o, 1, 3, 6).reshape({3 * o.units}) : Tensor();
  const Tensor saved = blank(o, kLstmSaved), h = blank(o, 1), c = blank(o, 1);
  const Tensor dh = draw(o, o.batch, 1, 7), dc = draw(o, o.batch, 1, 8), dgates = blank(o, 4);
  const Tensor dc_prev = blank(o, 1), dh_prev = blank(o, 1);
  const Tensor dp = peepholes ? Tensor::zeros(o.dtype, {3 * o.units}) : Tensor();
  const auto step = [=] { return LstmStep{x, u, c_prev, h_prev, p, active}; };
  const auto backward = [=] {
    if (peepholes) fill(dp, 0);
    lstm_cell_backward(step(), c, saved, dh, dc, {dgates, dc_prev, dh_prev, dp});
  };
  Cell cell{peepholes ? "peephole_lstm" : "lstm",
            {x, u, c_prev, h_prev},
            {h, c},
            {dh, dc},
            {dgates, dgates, dc_prev, dh_prev},
            [=] { lstm_cell(step(), h, c, saved); },
            backward};
  if (peepholes) {
    cell.inputs.push_back(p);
    cell.gradients.push_back(dp);
  }
  return cell;
}
Cell lstm(const Options& o) { return lstm_with(o, false); }
Cell peephole_lstm(const Options& o) { return lstm_with(o, true); }

Cell rnn(const Options& o) {
  const Tensor x = draw(o, o.batch, 1, 1), u = draw(o, o.batch, 1, 2), h_prev = draw(o, o.batch, 1, 3);
  const Tensor active = o.masked ? some_active(o.batch) : Tensor(), h = blank(o, 1);
  const Tensor dh = draw(o, o.batch, 1, 4), dgates = blank(o, 1), dh_prev = blank(o, 1);
  const auto step = [=] { return RnnStep{x, u, h_prev, active}; };
  return {"rnn",
          {x, u, h_prev},
          {h},
          {dh},
          {dgates, dgates, dh_prev},
          [=] { rnn_cell(step(), h); },
          [=] {
            rnn_cell_backward(step(), h, dh, {dgates, dh_prev});
          }};
}

constexpr Cell (*kCells[])(const Options&) = {gru, reset_gru, lstm, peephole_lstm, rnn};

TEST(Recurrent, CellsMatchTheirDefinitions) {
  const auto at = [](const Tensor& t, Index i) { return t.data<double>()[i]; };
  const Options one{DType::f64, 1, 1};
  {
    const Cell cell = gru(one);
    cell.forward();
    const Tensor &x = cell.inputs[0], &u = cell.inputs[1];
    const double h_prev = at(cell.inputs[2], 0);
    const double r = sigmoid(at(x, 0) + at(u, 0)), z = sigmoid(at(x, 1) + at(u, 1));
    const double n = std::tanh(at(x, 2) + r * at(u, 2));
    EXPECT_NEAR(at(cell.outputs[0], 0), (1 - z) * n + z * h_prev, 1e-15);
  }
  {
    const Cell cell = reset_gru(one);
    cell.forward();
    const Tensor &x = cell.inputs[0], &u = cell.inputs[1];
    const double h_prev = at(cell.inputs[2], 0);
    const double r = sigmoid(at(x, 0) + at(u, 0)), z = sigmoid(at(x, 1) + at(u, 1));
    const double n = std::tanh(at(x, 2) + 0.5 * r * h_prev);
    EXPECT_NEAR(at(cell.outputs[0], 0), (1 - z) * n + z * h_prev, 1e-15);
  }
  for (const Cell& cell : {lstm(one), peephole_lstm(one)}) {
    cell.forward();
    const Tensor &x = cell.inputs[0], &u = cell.inputs[1];
    const Tensor p = cell.inputs.size() > 4 ? cell.inputs[4] : Tensor::zeros(DType::f64, {3});
    const double c_prev = at(cell.inputs[2], 0);
    const double i = sigmoid(at(x, 0) + at(u, 0) + at(p, 0) * c_prev);
    const double f = sigmoid(at(x, 1) + at(u, 1) + at(p, 1) * c_prev);
    const double c = f * c_prev + i * std::tanh(at(x, 2) + at(u, 2));
    const double o = sigmoid(at(x, 3) + at(u, 3) + at(p, 2) * c);
    EXPECT_NEAR(at(cell.outputs[1], 0), c, 1e-15) << cell.name;
    EXPECT_NEAR(at(cell.outputs[0], 0), o * std::tanh(c), 1e-15) << cell.name;
  }
  const Cell cell = rnn(one);
  cell.forward();
  EXPECT_NEAR(at(cell.outputs[0], 0), std::tanh(at(cell.inputs[0], 0) + at(cell.inputs[1], 0)), 1e-15);
}

TEST(Recurrent, BackwardIsTheDerivative) {
  for (bool masked : {false, true}) {
    for (auto make : kCells) {
      const Cell cell = make({DType::f64, 4, 3, masked});
      cell.forward();
      cell.backward();
      for (std::size_t i = 0; i < cell.inputs.size(); ++i) {
        EXPECT_LT(gradient_error([&] { return cell.loss(); }, cell.inputs[i], cell.gradients[i]), 1e-8)
            << cell.name << ", input " << i << (masked ? ", masked" : "");
      }
    }
  }
}

TEST(Recurrent, FloatAgreesWithDoubleOnEveryTarget) {
  for (auto make : kCells) {
    for (Index units : {1, 3, 17, 31, 130}) {
      const Cell exact = make({DType::f64, 5, units});
      exact.forward();
      exact.backward();
      for (std::int64_t target : simd_targets()) {
        force_simd_target(target);
        const Cell cell = make({DType::f32, 5, units});
        cell.forward();
        cell.backward();
        // A chain of about ten roundings, of values up to about four.
        for (std::size_t i = 0; i < cell.outputs.size(); ++i) {
          EXPECT_LT(largest_difference(cell.outputs[i], exact.outputs[i]), 10 * 0x1p-23) << cell.name;
        }
        for (std::size_t i = 0; i < cell.gradients.size(); ++i) {
          EXPECT_LT(largest_difference(cell.gradients[i], exact.gradients[i]), 40 * 0x1p-23) << cell.name << i;
        }
      }
      force_simd_target(0);
    }
  }
}

TEST(Recurrent, HasTheSameBitsOnAnyThreads) {
  const int before = thread_count();
  for (auto make : kCells) {
    set_thread_count(1);
    const Cell one = make({DType::f32, 37, 301, true});
    one.forward();
    one.backward();
    for (int threads : {2, 3}) {
      set_thread_count(threads);
      const Cell many = make({DType::f32, 37, 301, true});
      many.forward();
      many.backward();
      for (std::size_t i = 0; i < one.outputs.size(); ++i) EXPECT_TRUE(same_bits(one.outputs[i], many.outputs[i]));
      for (std::size_t i = 0; i < one.gradients.size(); ++i) {
        EXPECT_TRUE(same_bits(one.gradients[i], many.gradients[i])) << one.name << i;
      }
    }
  }
  set_thread_count(before);
}

TEST(Recurrent, AStepOfASequenceByItsStridesAndARowAloneHaveTheSameBits) {
  const Index batch = 3, length = 4, units = 19;
  const Tensor x = random_tensor(DType::f32, {batch, length, 3 * units}, 1);
  const Tensor u = random_tensor(DType::f32, {batch, 3 * units}, 2),
               states = Tensor::zeros(DType::f32, {batch, length, units});
  const Tensor h_prev = random_tensor(DType::f32, {batch, units}, 3), h = Tensor::empty_like(h_prev);
  gru_cell({select(x, 1, 2), u, h_prev}, select(states, 1, 1), View());
  gru_cell({Tensor::copy_of(select(x, 1, 2)), u, h_prev}, h, View());
  EXPECT_TRUE(same_bits(select(states, 1, 1), h));
  const Tensor alone = Tensor::empty(DType::f32, {1, units});
  gru_cell({slice(select(x, 1, 2), 0, 1, 2), slice(u, 0, 1, 2), slice(h_prev, 0, 1, 2)}, alone, View());
  EXPECT_TRUE(same_bits(alone, slice(h, 0, 1, 2)));
  // The state may be updated where it lies.
  gru_cell({select(x, 1, 2), u, h_prev}, h_prev, View());
  EXPECT_TRUE(same_bits(h_prev, h));
}

TEST(Recurrent, RowsThatAreNotActiveCarryTheStateOn) {
  for (DType dtype : {DType::f32, DType::f64}) {
    for (auto make : kCells) {
      const Cell cell = make({dtype, 4, 17, true});
      cell.forward();
      cell.backward();
      const bool is_lstm = cell.outputs.size() == 2;
      const Tensor& h_prev = cell.inputs[is_lstm ? 3 : 2];
      EXPECT_TRUE(same_bits(slice(cell.outputs[0], 0, 1, 2), slice(h_prev, 0, 1, 2))) << cell.name;
      EXPECT_FALSE(same_bits(slice(cell.outputs[0], 0, 0, 1), slice(h_prev, 0, 0, 1))) << cell.name;
      EXPECT_TRUE(same_bits(slice(cell.gradients[is_lstm ? 3 : 2], 0, 1, 2), slice(cell.upstream[0], 0, 1, 2)));
      const View gates = slice(cell.gradients[0], 0, 1, 2);
      EXPECT_EQ(largest_difference(gates, Tensor::zeros_like(gates)), 0);
      if (!is_lstm) continue;
      EXPECT_TRUE(same_bits(slice(cell.outputs[1], 0, 1, 2), slice(cell.inputs[2], 0, 1, 2)));
      EXPECT_TRUE(same_bits(slice(cell.gradients[2], 0, 1, 2), slice(cell.upstream[1], 0, 1, 2)));
    }
  }
}

TEST(Recurrent, NanInAnInputSpoilsItsUnitOnly) {
  const Index units = 19, spoilt = 18;
  for (DType dtype : {DType::f32, DType::f64}) {
    for (auto make : kCells) {
      const std::size_t inputs = make({dtype, 1, units}).inputs.size();
      for (std::size_t input = 0; input < inputs; ++input) {
        const Cell cell = make({dtype, 1, units});
        const bool is_lstm = cell.outputs.size() == 2;
        // The previous h enters an LSTM and a simple network through the gates, which are given.
        if ((is_lstm && input == 3) || (cell.name == std::string("rnn") && input == 2)) continue;
        const Tensor row = cell.inputs[input].reshape({cell.inputs[input].size()});
        fill(slice(row, 0, spoilt, spoilt + 1), std::nan(""));
        cell.forward();
        const Tensor h = cell.outputs[0].to(DType::f64);
        for (Index j = 0; j < units; ++j) {
          EXPECT_EQ(std::isnan(h.at<double>({0, j})), j == spoilt) << cell.name << input << " " << j;
        }
      }
    }
  }
}

TEST(Recurrent, AnEmptyGradientOfAnLstmIsZero) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Options o{dtype, 3, 17};
    const Tensor x = draw(o, 3, 4, 1), c_prev = draw(o, 3, 1, 2), saved = blank(o, kLstmSaved), h = blank(o, 1);
    const Tensor c = blank(o, 1), dh = draw(o, 3, 1, 3), zero = blank(o, 1), a = blank(o, 4), b = blank(o, 4);
    const LstmStep step{.gates_x = x, .c_prev = c_prev};
    lstm_cell(step, h, c, saved);
    lstm_cell_backward(step, View(), saved, dh, View(), {.dgates = a});
    lstm_cell_backward(step, View(), saved, dh, zero, {.dgates = b});
    EXPECT_TRUE(same_bits(a, b));
    lstm_cell_backward(step, View(), saved, View(), dh, {.dgates = a});
    lstm_cell_backward(step, View(), saved, zero, dh, {.dgates = b});
    EXPECT_TRUE(same_bits(a, b));
    EXPECT_THROW(lstm_cell_backward(step, View(), saved, View(), View(), {.dgates = a}), Error);
  }
}

TEST(Recurrent, PeepholeGradientsAccumulate) {
  const Options o{DType::f64, 3, 5};
  const Tensor x = draw(o, 3, 4, 1), c_prev = draw(o, 3, 1, 2), p = draw(o, 1, 3, 3).reshape({15});
  const Tensor saved = blank(o, kLstmSaved), h = blank(o, 1), c = blank(o, 1), dh = draw(o, 3, 1, 4);
  const Tensor dgates = blank(o, 4), once = Tensor::zeros(DType::f64, {15}), twice = Tensor::zeros(DType::f64, {15});
  const LstmStep step{.gates_x = x, .c_prev = c_prev, .peepholes = p};
  lstm_cell(step, h, c, saved);
  lstm_cell_backward(step, c, saved, dh, View(), {.dgates = dgates, .dpeepholes = once});
  for (int i = 0; i < 2; ++i) lstm_cell_backward(step, c, saved, dh, View(), {.dgates = dgates, .dpeepholes = twice});
  for (Index j = 0; j < 15; ++j) EXPECT_NEAR(twice.at<double>({j}), 2 * once.at<double>({j}), 1e-14);
}

TEST(Recurrent, RefusesOperandsThatDoNotFit) {
  const Tensor h = Tensor::zeros(DType::f32, {2, 3}), gates3 = Tensor::zeros(DType::f32, {2, 9});
  const Tensor gates4 = Tensor::zeros(DType::f32, {2, 12}), doubles = Tensor::zeros(DType::f64, {2, 9});
  const Tensor saved = Tensor::zeros(DType::f32, {2, 12}), active = Tensor::zeros(DType::boolean, {3});
  const Tensor peepholes = Tensor::zeros(DType::f32, {3}), two = Tensor::zeros(DType::boolean, {2});
  const auto gru_with = [&](ConstView x, ConstView u, ConstView before, ConstView on) {
    gru_cell({x, u, before, on}, h, saved);
  };
  EXPECT_THROW(gru_with(gates4, gates3, h, View()), Error);
  EXPECT_THROW(gru_with(gates3, View(), h, View()), Error);
  EXPECT_THROW(gru_with(gates3, doubles, h, View()), Error);
  EXPECT_THROW(gru_with(gates3, gates3, View(), View()), Error);
  EXPECT_THROW(gru_with(gates3, gates3, h, active), Error);
  EXPECT_THROW(gru_with(gates3, gates3, h, h), Error);
  EXPECT_THROW(gru_cell({gates3, gates3, h}, View(), saved), Error);
  EXPECT_THROW(gru_cell({gates3, gates3, h}, h, gates3), Error);
  EXPECT_THROW(gru_cell_backward({.h_prev = h}, View(), h, {gates3, gates3, h}), Error);
  EXPECT_THROW(gru_cell_backward({.h_prev = h}, saved, h, {View(), gates3, h}), Error);
  EXPECT_THROW(gru_reset({gates3, gates3, h}, h, gates3), Error);
  EXPECT_THROW(gru_update({gates3, View(), h}, gates3, h, gates3), Error);
  EXPECT_THROW(lstm_cell({.gates_x = gates4, .c_prev = h, .peepholes = peepholes}, h, h, View()), Error);
  EXPECT_THROW(lstm_cell({.gates_x = gates4, .c_prev = h, .active = two}, h, h, View()), Error);
  EXPECT_THROW(rnn_cell({.gates_x = gates3}, h), Error);
  EXPECT_THROW(rnn_cell({.gates_x = transpose(Tensor::zeros(DType::f32, {3, 2}), 0, 1)}, h), Error);
}

}  // namespace
}  // namespace heed
