#include "heed/autograd/attention.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/ops/attention/spec/visit_spec.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

constexpr Index kBatch = 2, kHeads = 2, kLength = 5, kWidth = 4, kFeatures = kHeads * kWidth;

Tensor numbers(std::initializer_list<Index> shape, std::uint64_t seed) {
  return random_tensor(DType::f64, shape, seed);
}

class AttentionVar : public ::testing::Test {
 protected:
  Context context(Tape* tape) { return {.tape = tape, .workspace = workspace_}; }
  static Heads heads(const Var& source) { return {source, 0, kHeads, kWidth}; }

  Var q_ = Var::parameter(numbers({kBatch, kLength, kFeatures}, 1));
  Var k_ = Var::parameter(numbers({kBatch, kLength, kFeatures}, 2));
  Var v_ = Var::parameter(numbers({kBatch, kLength, kFeatures}, 3));
  Tensor dy_ = numbers({kBatch, kLength, kFeatures}, 4);
  Workspace workspace_;
};

// T5's table among them.
TEST_F(AttentionVar, EveryTensorThatCanBeLearnedGetsTheOperatorsGradient) {
  const Var vector = Var::parameter(numbers({kWidth}, 5)), sinks = Var::parameter(numbers({kHeads}, 6)),
            dense = Var::parameter(numbers({1, kHeads, 1, kLength}, 7)),
            table = Var::parameter(numbers({8, kHeads}, 8)), centre = Var::parameter(numbers({kBatch, 1, kLength}, 9));
  const AttentionSpec spec{.score = Score::additive(vector.value()),
                           .bias = {.dense = dense.value(),
                                    .relative = {.table = table.value()},
                                    .gaussian = {.centre = centre.value(), .sigma = 2}},
                           .normaliser = Normaliser::softmax(sinks.value())};
  Tape tape;
  const Var out =
      attention(context(&tape), heads(q_), heads(k_), heads(v_), spec, {Var(), centre, table, sinks, dense, vector});
  out.add_grad(dy_);
  tape.backward();

  const Tensor stat = Tensor::zeros(DType::f64, {kBatch, kHeads, kLength});
  const auto split = [](const Tensor& tensor) { return split_heads(tensor.view(), kHeads); };
  attention(split(q_.value()), split(k_.value()), split(v_.value()), spec, {.row_stat = stat}, workspace_);
  std::vector<Tensor> kept;
  AttentionGrad grad;
  visit_parameters(spec, grad, [&](const char*, const char*, const Tensor& parameter, View& gradient) {
    kept.push_back(Tensor::zeros_like(parameter.view())), gradient = kept.back();
  });
  attention_backward(split(q_.value()), split(k_.value()), split(v_.value()), spec,
                     {.out = split(out.value()), .row_stat = stat, .dout = split(dy_)}, grad, workspace_);
  visit_parameters(spec, grad, [&](const char* name, const char*, const Tensor& parameter, const View& gradient) {
    int found = 0;
    for (const Var& var : {vector, sinks, dense, table, centre}) {
      if (var.value().view().data != parameter.view().data) continue;
      EXPECT_TRUE(same_bits(var.grad(), gradient)) << name;
      ++found;
    }
    EXPECT_EQ(found, 1) << name;
  });
}

TEST_F(AttentionVar, AVarThatTheSpecDoesNotHaveIsRefused) {
  const Var sinks = Var::parameter(numbers({kHeads}, 6));
  EXPECT_EQ(refusal([&] { attention(context(nullptr), heads(q_), heads(k_), heads(v_), {}, {sinks}); }),
            "attention: no tensor that the spec can learn is the value f64 [2] of a Var");
}

TEST_F(AttentionVar, TheTapeKeepsTheMaskThatACallWasGiven) {
  const auto gradient = [&](bool reuse) {
    const Tensor lengths = Tensor::from(std::vector<std::int64_t>{3, 2}, {2});
    Tape tape;
    q_.clear_grad();
    attention(context(&tape), heads(q_), heads(k_), heads(v_), {.mask = Mask::key_lengths(lengths.clone())})
        .add_grad(dy_.clone());
    std::vector<Tensor> others;  // which take the memory of what is gone
    for (int n = 0; reuse && n < 16; ++n) others.push_back(Tensor::zeros(DType::i64, {2}));
    tape.backward();
    return q_.grad();
  };
  EXPECT_TRUE(same_bits(gradient(true), gradient(false)));
}

}  // namespace
}  // namespace heed
