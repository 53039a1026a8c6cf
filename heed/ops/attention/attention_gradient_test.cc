// The gradients of the definition against finite differences in double, for every input and every feature.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::random_tensor;
using testing::weighted_sum;

struct Inputs {
  Tensor q, k, v, dout, bias, vector;
};

Inputs make_inputs(bool additive) {
  const Index batch = 2, heads = 4, key_heads = 2, queries = 3, keys = 5, width = 4, value_width = 3;
  Inputs x;
  x.q = random_tensor(DType::f64, {batch, heads, queries, width}, 1);
  x.k = random_tensor(DType::f64, {batch, key_heads, keys, width}, 2);
  x.v = random_tensor(DType::f64, {batch, key_heads, keys, value_width}, 3);
  x.dout = random_tensor(DType::f64, {batch, heads, queries, value_width}, 4);
  if (additive) x.vector = random_tensor(DType::f64, {width}, 5);
  return x;
}

// Holds every gradient of sum(out * dout) against differences.
void expect_gradients(const Inputs& x, AttentionSpec spec) {
  if (!x.bias.is_empty()) spec.bias.dense = x.bias.view();
  if (!x.vector.is_empty()) spec.score = Score::additive(x.vector.view());
  Workspace workspace;
  const Tensor out = Tensor::zeros_like(x.dout);
  const Tensor stat = Tensor::zeros(DType::f64, {x.q.dim(0), x.q.dim(1), x.q.dim(2)});
  const auto loss = [&] {
    attention(x.q, x.k, x.v, spec, {.out = out, .row_stat = stat}, workspace);
    return weighted_sum(out, x.dout);
  };
  loss();
  const Tensor dq = Tensor::zeros_like(x.q), dk = Tensor::zeros_like(x.k), dv = Tensor::zeros_like(x.v);
  Tensor dbias, dvector;
  if (!x.bias.is_empty()) dbias = Tensor::zeros_like(x.bias);
  if (!x.vector.is_empty()) dvector = Tensor::zeros_like(x.vector);
  attention_backward(x.q, x.k, x.v, spec, {.out = out, .row_stat = stat, .dout = x.dout},
                     {.dq = dq, .dk = dk, .dv = dv, .dbias = dbias, .dadditive_vector = dvector}, workspace);
  EXPECT_LT(gradient_error(loss, x.q, dq), 1e-7);
  EXPECT_LT(gradient_error(loss, x.k, dk), 1e-7);
  EXPECT_LT(gradient_error(loss, x.v, dv), 1e-7);
  if (!x.bias.is_empty()) {
    EXPECT_LT(gradient_error(loss, x.bias, dbias), 1e-7);
  }
  if (!x.vector.is_empty()) {
    EXPECT_LT(gradient_error(loss, x.vector, dvector), 1e-7);
  }
}

// Runs a test for both scores.
void for_both_scores(const std::function<void(Inputs&)>& test) {
  for (bool additive : {false, true}) {
    SCOPED_TRACE(additive ? "additive" : "dot");
    Inputs x = make_inputs(additive);
    test(x);
  }
}

TEST(AttentionGradient, OfThePlainOperator) {
  for_both_scores([](Inputs& x) { expect_gradients(x, {}); });
}

TEST(AttentionGradient, OfAScaledScore) {
  Inputs x = make_inputs(false);
  expect_gradients(x, {.score = Score::scaled_dot(0.3)});
  expect_gradients(x, {.score = Score::dot()});
}

TEST(AttentionGradient, OfASoftCap) {
  for_both_scores([](Inputs& x) {
    AttentionSpec spec;
    spec.bias.soft_cap = 1.2;
    expect_gradients(x, spec);
  });
}

TEST(AttentionGradient, OfABiasBroadcastAlongEachAxis) {
  for_both_scores([](Inputs& x) {
    for (int broadcast = 0; broadcast < 8; ++broadcast) {
      const auto axis = [&](int bit, Index extent) { return (broadcast >> bit & 1) != 0 ? Index{1} : extent; };
      x.bias = random_tensor(DType::f64, {axis(0, 2), axis(1, 4), axis(2, 3), 5}, 6);
      AttentionSpec spec;
      if (broadcast % 2 != 0) spec.bias.soft_cap = 2;
      expect_gradients(x, spec);
    }
  });
}

TEST(AttentionGradient, OfMasks) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3, 0}, {2});
  const Tensor allowed = Tensor::zeros(DType::boolean, {2, 1, 3, 5});
  for (Index i = 0; i < allowed.size(); ++i) allowed.data<std::uint8_t>()[i] = i % 3 != 0;
  for_both_scores([&](Inputs& x) {
    expect_gradients(x, {.mask = Mask::causal()});
    expect_gradients(x, {.mask = Mask::causal(Anchor::start)});
    expect_gradients(x, {.mask = Mask::sliding_window(1, 1)});
    expect_gradients(x, {.mask = Mask::key_lengths(lengths)});
    expect_gradients(x, {.mask = Mask::boolean(allowed)});
    expect_gradients(x, {.mask = Mask::causal() & Mask::key_lengths(lengths) & Mask::boolean(allowed)});
  });
}

TEST(AttentionGradient, OfDropout) {
  for_both_scores([](Inputs& x) {
    expect_gradients(x, {.mask = Mask::causal(), .dropout = {.probability = 0.4, .seed = 3, .stream = 8}});
  });
}

}  // namespace
}  // namespace heed
