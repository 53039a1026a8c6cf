// Second derivatives against finite differences of attention_backward, in double.
#include "heed/ops/attention/double_backward.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::random_tensor;
using testing::refusal;
using testing::weighted_sum;

struct Numbers {
  Tensor q = random_tensor(DType::f64, {2, 4, 3, 4}, 1), k = random_tensor(DType::f64, {2, 2, 5, 4}, 2),
         v = random_tensor(DType::f64, {2, 2, 5, 3}, 3), dout = random_tensor(DType::f64, {2, 4, 3, 3}, 4);
  // What the loss sees of dq, dk and dv.
  Tensor ddq = random_tensor(DType::f64, {2, 4, 3, 4}, 5), ddk = random_tensor(DType::f64, {2, 2, 5, 4}, 6),
         ddv = random_tensor(DType::f64, {2, 2, 5, 3}, 7);
};

void expect_second_derivatives(const AttentionSpec& spec) {
  const Numbers x;
  Workspace workspace;
  const Tensor out = Tensor::zeros_like(x.dout), stat = Tensor::zeros(DType::f64, {2, 4, 3});
  const Tensor dq = Tensor::zeros_like(x.q), dk = Tensor::zeros_like(x.k), dv = Tensor::zeros_like(x.v);
  const auto loss = [&] {
    attention(x.q, x.k, x.v, spec, {.out = out, .row_stat = stat}, workspace);
    attention_backward(x.q, x.k, x.v, spec, {.out = out, .row_stat = stat, .dout = x.dout},
                       {.dq = dq, .dk = dk, .dv = dv}, workspace);
    return weighted_sum(dq, x.ddq) + weighted_sum(dk, x.ddk) + weighted_sum(dv, x.ddv);
  };
  loss();
  const Tensor gq = Tensor::zeros_like(x.q), gk = Tensor::zeros_like(x.k), gv = Tensor::zeros_like(x.v);
  const Tensor gdout = Tensor::zeros_like(x.dout);
  for (const Tensor* tensor : {&gq, &gk, &gv, &gdout}) fill(*tensor, 77);  // must be overwritten
  attention_double_backward(x.q, x.k, x.v, spec, {.row_stat = stat, .dout = x.dout}, {x.ddq, x.ddk, x.ddv},
                            {.dq = gq, .dk = gk, .dv = gv, .ddout = gdout});
  EXPECT_LT(gradient_error(loss, x.q, gq), 1e-7);
  EXPECT_LT(gradient_error(loss, x.k, gk), 1e-7);
  EXPECT_LT(gradient_error(loss, x.v, gv), 1e-7);
  EXPECT_LT(gradient_error(loss, x.dout, gdout), 1e-7);
}

TEST(AttentionDoubleBackward, OfThePlainOperator) { expect_second_derivatives({}); }

TEST(AttentionDoubleBackward, OfAScaleACapAndABias) {
  const Tensor bias = random_tensor(DType::f64, {1, 4, 1, 5}, 8);
  expect_second_derivatives({.score = Score::scaled_dot(0.8), .bias = {.dense = bias, .soft_cap = 1.5}});
}

TEST(AttentionDoubleBackward, OfMasksWithDeadRows) {
  const Tensor lengths = Tensor::from(std::vector<std::int32_t>{3, 0}, {2});
  expect_second_derivatives({.mask = Mask::causal() & Mask::key_lengths(lengths)});
  expect_second_derivatives({.mask = Mask::strided({2})});
}

TEST(AttentionDoubleBackward, OfSinksAndDropout) {
  const Tensor sinks = random_tensor(DType::f64, {4}, 9);
  expect_second_derivatives({.normaliser = Normaliser::softmax(sinks), .dropout = {.probability = 0.4, .seed = 3}});
}

TEST(AttentionDoubleBackward, OfSingleGradients) {
  const Numbers x;
  Workspace workspace;
  const Tensor out = Tensor::zeros_like(x.dout), stat = Tensor::zeros(DType::f64, {2, 4, 3});
  attention(x.q, x.k, x.v, {}, {.out = out, .row_stat = stat}, workspace);
  const AttentionSaved saved{.row_stat = stat, .dout = x.dout};
  const auto part = [&](const AttentionSecond& second) {
    const Tensor gq = Tensor::zeros_like(x.q);
    attention_double_backward(x.q, x.k, x.v, {}, saved, second, {.dq = gq});
    return gq;
  };
  const Tensor all = part({x.ddq, x.ddk, x.ddv});
  const Tensor parts[] = {part({.ddq = x.ddq}), part({.ddk = x.ddk}), part({.ddv = x.ddv})};
  for (Index i = 0; i < all.size(); ++i) {
    const double sum = parts[0].data<double>()[i] + parts[1].data<double>()[i] + parts[2].data<double>()[i];
    EXPECT_NEAR(all.data<double>()[i], sum, 1e-12);
  }
}

TEST(AttentionDoubleBackward, RefusesWhatItIsNotFor) {
  const Numbers x;
  const Tensor stat = Tensor::zeros(DType::f64, {2, 4, 3}), gq = Tensor::zeros_like(x.q);
  const AttentionSaved saved{.row_stat = stat, .dout = x.dout};
  EXPECT_EQ(refusal([&] {
              attention_double_backward(x.q, x.k, x.v, {.score = Score::cosine()}, saved, {.ddq = x.ddq}, {.dq = gq});
            }),
            "attention_double_backward: the score must be a dot product and the normaliser softmax");
  EXPECT_EQ(refusal([&] { attention_double_backward(x.q, x.k, x.v, {}, saved, {.ddq = x.ddk}, {.dq = gq}); }),
            "attention_double_backward: ddq must be as f64 [2, 4, 3, 4], with stride 1 along its last axis, but is f64 "
            "[2, 2, 5, 4]");
  EXPECT_EQ(refusal([&] { attention_double_backward(x.q, x.k, x.v, {}, saved, {.ddq = x.ddq}, {.dq = x.ddq}); }),
            "attention_double_backward: dq overlaps ddq: f64 [2, 4, 3, 4] and f64 [2, 4, 3, 4]");
}

}  // namespace
}  // namespace heed
