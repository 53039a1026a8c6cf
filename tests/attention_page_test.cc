// Every piece of code in docs/attention.md, as a test: what its first section says is there is there, and the output
// that a piece computes is a number everywhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/double_backward.h"
#include "heed/ops/attention/linear_step.h"
#include "heed/ops/attention/merge.h"
#include "heed/ops/attention/paged_cache.h"
#include "heed/ops/gated_delta/gated_delta_rule.h"
#include "heed/ops/rotary/rotary.h"
#include "heed/tensor/quantise_rows.h"
#include "heed/testing/gradient_check.h"
#include "page_output.h"

namespace heed {
namespace {

using testing::random_tensor;

Tensor filled(DType dtype, std::initializer_list<Index> shape, double value) {
  Tensor tensor = Tensor::empty(dtype, shape);
  fill(tensor, value);
  return tensor;
}

Tensor standard_slopes() {
  Tensor slopes = Tensor::empty(DType::f32, {4});
  alibi_slopes(slopes);
  return slopes;
}

Tensor performer_features() {
  Tensor features = Tensor::empty(DType::f32, {64, 16});
  orthogonal_random_features(features, 1);
  return features;
}

class AttentionPage : public ::testing::Test {
 protected:
  void SetUp() override {
    fill(o, std::numeric_limits<double>::quiet_NaN());
    quantise_rows(k, k_int8, k_scales), quantise_rows(v, v_int8, v_scales);
  }
  // Whether the piece computes the page's output, or that of one of its two sequences, or one of its own.
  void begin_piece(std::string_view code) {
    const auto has = [code](std::string_view part) { return code.find(part) != code.npos; };
    if (has("Tensor o =")) return;
    if (has("out = o") || has(", o);")) {
      wanted = o.size();
    } else if (has("out = packed_o")) {
      wanted = o.size() / 2;
    }
  }
  void TearDown() override {
    Index computed = 0;
    for (Index i = 0; i < o.size(); ++i) computed += std::isfinite(o.data<float>()[i]);
    EXPECT_EQ(computed, wanted);
  }

  std::vector<Tensor> kept_;
  Index wanted = 0;  // numbers of o that the piece computes
  Tensor q = random_tensor(DType::f32, {2, 4, 6, 16}, 1), k = random_tensor(DType::f32, {2, 4, 6, 16}, 2),
         v = random_tensor(DType::f32, {2, 4, 6, 16}, 3), dout = random_tensor(DType::f32, {2, 4, 6, 16}, 4);
  Tensor o = Tensor::empty_like(q), row_stat = Tensor::empty(DType::f32, {2, 4, 6});
  Tensor dq = Tensor::empty_like(q), dk = Tensor::empty_like(k), dv = Tensor::empty_like(v);
  Tensor k_few = random_tensor(DType::f32, {2, 2, 6, 16}, 5), v_few = random_tensor(DType::f32, {2, 2, 6, 16}, 6);
  Tensor k_projected = random_tensor(DType::f32, {2, 4, 6, 16}, 7), v_a = random_tensor(DType::f32, {16}, 8);
  Tensor k_half = k.to(DType::bf16), v_half = v.to(DType::bf16);
  Tensor k_int8 = Tensor::empty(DType::i8, {2, 4, 6, 16}), v_int8 = Tensor::empty(DType::i8, {2, 4, 6, 16});
  Tensor k_scales = Tensor::empty(DType::f32, {2, 4, 6}), v_scales = Tensor::empty(DType::f32, {2, 4, 6});
  View q_rows = random_tensor_kept({2, 6, 4, 16}), qkv = random_tensor_kept({2, 6, 192});
  Tensor random_features = performer_features(), slopes = standard_slopes();
  Tensor bias = random_tensor(DType::f32, {1, 4, 6, 6}, 9), table = random_tensor(DType::f32, {32, 4}, 10);
  Tensor sinks = random_tensor(DType::f32, {4}, 11), centre = filled(DType::f32, {2, 1, 6}, 2.5);
  Tensor lengths = Tensor::from<std::int32_t>(std::vector<std::int32_t>{6, 4}, {2}),
         prefix = Tensor::from<std::int32_t>(std::vector<std::int32_t>{2, 3}, {2}),
         segments = Tensor::from<std::int32_t>(std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}, {1, 6});
  Tensor allowed = filled(DType::boolean, {1, 1, 6, 6}, 1), open_tiles = filled(DType::boolean, {1, 2, 2}, 1);
  Workspace workspace;

 private:
  View random_tensor_kept(std::initializer_list<Index> shape) {
    kept_.push_back(random_tensor(DType::f32, shape, 20 + kept_.size()));
    return kept_.back();
  }
};

#pragma GCC diagnostic ignored "-Wshadow"  // a piece may give a name of the fixture to something of its own
#include "attention_page_snippets.inc"     // written from the page

}  // namespace
}  // namespace heed
