#include "heed/autograd/rotary.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heed/base/error.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::random_tensor;
using testing::same_bits;
using testing::weighted_sum;

class RotaryVar : public ::testing::Test {
 protected:
  static constexpr Index kBatch = 2, kLength = 3, kWidth = 4, kFeatures = 5 * kWidth;

  Context context(Tape* tape) { return {.tape = tape, .workspace = workspace_}; }

  RotaryTables tables_ = rotary_tables({.width = kWidth, .base = 20}, 9, DType::f64);
  Tensor positions_ = Tensor::from<std::int32_t>({4, 0, 6, 2, 2, 5}, {kBatch, kLength});
  Var source_ = Var::parameter(random_tensor(DType::f64, {kBatch, kLength, kFeatures}, 1));
  Workspace workspace_;
};

TEST_F(RotaryVar, TurnsTheNamedHeadsAndCopiesTheOthers) {
  const Heads heads{source_, kWidth, 3, kWidth};
  const Var y = rotary(context(nullptr), heads, tables_, positions_, 2, RotaryPairing::interleaved);
  const Tensor expected = source_.value().clone();
  const View turned = heads.view_of(expected);
  rotary(turned, {.cos = tables_.cos, .sin = tables_.sin, .positions = positions_, .offset = 2},
         RotaryPairing::interleaved, turned);
  EXPECT_TRUE(same_bits(y.value(), expected));
}

TEST_F(RotaryVar, GradientsAgreeWithFiniteDifferences) {
  const Tensor weights = random_tensor(DType::f64, {kBatch, kLength, kFeatures}, 2);
  for (const Heads& heads : {Heads{source_, kWidth, 3, kWidth}, Heads{source_, 0, 5, kWidth}}) {
    Tape tape;
    source_.clear_grad();
    const auto forward = [&](Tape* t) {
      return rotary(context(t), heads, tables_, positions_, 2, RotaryPairing::halves);
    };
    forward(&tape).add_grad(weights);
    tape.backward();
    const auto loss = [&] { return weighted_sum(forward(nullptr), weights); };
    EXPECT_LT(gradient_error(loss, source_.value(), source_.grad().view()), 1e-8);
  }
}

// One gradient arrives at the packed projection through both the turned and the copied features.
TEST_F(RotaryVar, APackedProjectionFlowsThroughToAttention) {
  const Tensor weights = random_tensor(DType::f64, {kBatch, kLength, 2 * kWidth}, 2);
  const auto forward = [&](Tape* t) {  // two query heads, one key head, one value head, and features unread
    const Context c = context(t);
    const Var turned = rotary(c, {source_, 0, 3, kWidth}, tables_, {}, 1, RotaryPairing::halves);
    return attention(c, {turned, 0, 2, kWidth}, {turned, 2 * kWidth, 1, kWidth}, {turned, 3 * kWidth, 1, kWidth},
                     {.mask = Mask::causal()});
  };
  Tape tape;
  forward(&tape).add_grad(weights);
  tape.backward();
  const auto loss = [&] { return weighted_sum(forward(nullptr), weights); };
  EXPECT_LT(gradient_error(loss, source_.value(), source_.grad().view()), 1e-7);
}

// A layer may build its positions for one call: the tape keeps them.
TEST_F(RotaryVar, TheTapeKeepsTheTablesAndPositions) {
  const Tensor weights = random_tensor(DType::f64, {kBatch, kLength, kFeatures}, 2);
  Tape tape;
  const Heads heads{source_, 0, 5, kWidth};
  Var y;
  {
    const RotaryTables tables{tables_.cos.clone(), tables_.sin.clone()};
    y = rotary(context(&tape), heads, tables, positions_.clone(), 0, RotaryPairing::halves);
  }
  const Tensor noise = random_tensor(DType::f64, {9, kWidth / 2}, 3);  // would take the place of freed memory
  y.add_grad(weights);
  tape.backward();
  const Tensor expected = Tensor::empty_like(weights);
  rotary_backward(heads.view_of(weights), {.cos = tables_.cos, .sin = tables_.sin, .positions = positions_},
                  RotaryPairing::halves, heads.view_of(expected));
  EXPECT_TRUE(same_bits(source_.grad(), expected));
}

TEST_F(RotaryVar, RefusesASourceThatIsNoSequenceAndPositionsPastTheTables) {
  const Var flat = Var(Tensor::zeros(DType::f64, {3, kWidth}));
  EXPECT_THROW(rotary(context(nullptr), {flat, 0, 1, kWidth}, tables_, {}, 0, RotaryPairing::halves), Error);
  EXPECT_THROW(rotary(context(nullptr), {source_, 0, 5, kWidth}, tables_, {}, 7, RotaryPairing::halves), Error);
}

}  // namespace
}  // namespace heed
