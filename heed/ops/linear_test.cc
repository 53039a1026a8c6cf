#include "heed/ops/linear.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/target.h"
#include "heed/tensor/quantise_rows.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/random_blocks.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::gradient_error;
using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;
using testing::weighted_sum;

TEST(Linear, IsTheProductWithTheTransposedWeightPlusBias) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4}, {2, 2}),
               weight = Tensor::from<double>({1, 0, 0, 1, 2, 3}, {3, 2});
  const Tensor bias = Tensor::from<double>({10, 20, 30}, {3}), y = Tensor::empty(DType::f64, {2, 3});
  linear(x, weight, bias, y);
  EXPECT_TRUE(same_bits(y, Tensor::from<double>({11, 22, 38, 13, 24, 48}, {2, 3})));
  linear(x, weight, {}, y);
  EXPECT_TRUE(same_bits(y, Tensor::from<double>({1, 2, 8, 3, 4, 18}, {2, 3})));
}

TEST(Linear, GradientsMatchFiniteDifferences) {
  const Tensor x = random_tensor(DType::f64, {5, 4}, 1), weight = random_tensor(DType::f64, {3, 4}, 2);
  const Tensor bias = random_tensor(DType::f64, {3}, 3), y = Tensor::empty(DType::f64, {5, 3});
  const Tensor dy = random_tensor(DType::f64, {5, 3}, 4);
  const Tensor dx = random_tensor(DType::f64, {5, 4}, 5), dweight = Tensor::zeros_like(weight),
               dbias = Tensor::zeros_like(bias);
  const auto loss = [&] {
    linear(x, weight, bias, y);
    return weighted_sum(y, dy);
  };
  linear_backward(x, weight, dy, dx, dweight, dbias);
  EXPECT_LT(gradient_error(loss, x, dx), 1e-8);
  EXPECT_LT(gradient_error(loss, weight, dweight), 1e-8);
  EXPECT_LT(gradient_error(loss, bias, dbias), 1e-8);
}

TEST(Linear, SinglePrecisionAgreesWithDouble) {
  const Tensor x = random_tensor(DType::f32, {700, 130}, 1), weight = random_tensor(DType::f32, {65, 130}, 2);
  const Tensor bias = random_tensor(DType::f32, {65}, 3), dy = random_tensor(DType::f32, {700, 65}, 4);
  const auto run = [&](DType dtype) {
    const Tensor y = Tensor::empty(dtype, {700, 65}), dx = Tensor::empty(dtype, {700, 130});
    const Tensor dweight = Tensor::zeros(dtype, {65, 130}), dbias = Tensor::zeros(dtype, {65});
    linear(x.to(dtype), weight.to(dtype), bias.to(dtype), y);
    linear_backward(x.to(dtype), weight.to(dtype), dy.to(dtype), dx, dweight, dbias);
    return std::array{y, dx, dweight, dbias};
  };
  const auto single = run(DType::f32), exact = run(DType::f64);
  // Sums of at most 700 terms, rounded to 2^-24 of a partial sum of some 30 each time, mostly cancelling.
  for (std::size_t i = 0; i < single.size(); ++i) EXPECT_LT(largest_difference(single[i], exact[i]), 1e-4) << i;
}

TEST(Linear, ParameterGradientsAccumulateAndTheInputGradientIsOverwritten) {
  const Tensor x = random_tensor(DType::f64, {5, 4}, 1), weight = random_tensor(DType::f64, {3, 4}, 2);
  const Tensor dy = random_tensor(DType::f64, {5, 3}, 4);
  const Tensor dx = Tensor::empty(DType::f64, {5, 4}), dweight = Tensor::zeros_like(weight),
               dbias = Tensor::zeros(DType::f64, {3});
  linear_backward(x, weight, dy, dx, dweight, dbias);
  const Tensor first_dx = dx.clone(), first_dweight = dweight.clone(), first_dbias = dbias.clone();
  linear_backward(x, weight, dy, dx, dweight, dbias);
  EXPECT_TRUE(same_bits(dx, first_dx));
  for (Index i = 0; i < dweight.size(); ++i)
    EXPECT_DOUBLE_EQ(dweight.data<double>()[i], 2 * first_dweight.data<double>()[i]);
  for (Index i = 0; i < dbias.size(); ++i) EXPECT_DOUBLE_EQ(dbias.data<double>()[i], 2 * first_dbias.data<double>()[i]);
}

TEST(Linear, ThreadsChangeNoBitOfAGradient) {
  const Tensor x = random_tensor(DType::f32, {1500, 128}, 1), dy = random_tensor(DType::f32, {1500, 300}, 2);
  const Tensor expected = Tensor::zeros(DType::f32, {300, 128}), expected_bias = Tensor::zeros(DType::f32, {300});
  const int saved = thread_count();
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const Tensor dweight = threads == 1 ? expected : Tensor::zeros(DType::f32, {300, 128});
    const Tensor dbias = threads == 1 ? expected_bias : Tensor::zeros(DType::f32, {300});
    linear_backward(x, {}, dy, {}, dweight, dbias);
    EXPECT_TRUE(same_bits(dweight, expected));
    EXPECT_TRUE(same_bits(dbias, expected_bias));
  }
  set_thread_count(saved);
}

TEST(Linear, NoRowsLeaveTheParameterGradientsAlone) {
  const Tensor x = Tensor::zeros(DType::f32, {0, 4}), weight = random_tensor(DType::f32, {3, 4}, 1);
  const Tensor dy = Tensor::zeros(DType::f32, {0, 3}), dweight = random_tensor(DType::f32, {3, 4}, 2);
  const Tensor before = dweight.clone(), dbias = random_tensor(DType::f32, {3}, 3), bias_before = dbias.clone();
  linear(x, weight, {}, dy);
  linear_backward(x, weight, dy, x, dweight, dbias);
  EXPECT_TRUE(same_bits(dweight, before));
  EXPECT_TRUE(same_bits(dbias, bias_before));
}

// A weight in some type, and what it refers to.
struct StoredWeight {
  Tensor values, scales;
  BlockType blocks = BlockType::none;
  operator Weight() const { return {values.view(), scales.view(), blocks}; }  // NOLINT
};

StoredWeight stored(std::string_view type, Index outputs, Index inputs) {
  const Tensor wide = random_tensor(DType::f32, {outputs, inputs}, static_cast<std::uint64_t>(outputs));
  if (type == "q8_0") return {testing::random_blocks(BlockType::q8_0, outputs, inputs, 1), {}, BlockType::q8_0};
  if (type == "q4_k") return {testing::random_blocks(BlockType::q4_k, outputs, inputs, 1), {}, BlockType::q4_k};
  if (type == "bf16") return {wide.to(DType::bf16), {}};
  if (type == "f32") return {wide, {}};
  StoredWeight bytes{Tensor::empty(DType::i8, {outputs, inputs}), Tensor::empty(DType::f32, {outputs})};
  quantise_rows(wide, bytes.values, bytes.scales);
  return bytes;
}

// On every target: which of them multiply bytes in whole numbers decides what goes together.
TEST(Linear, SeveralMapsGiveTheBitsOfEachByItself) {
  constexpr Index kInputs = 512, kOutputs[] = {70, 1, 40};
  const int saved = thread_count();
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    SCOPED_TRACE(simd_target_name(target));
    for (const std::array types :
         {std::array{"f32", "f32", "f32"}, std::array{"bf16", "bf16", "bf16"}, std::array{"i8", "i8", "i8"},
          std::array{"q4_k", "q8_0", "q4_k"}, std::array{"i8", "q8_0", "f32"}, std::array{"bf16", "i8", "i8"}}) {
      for (Index rows : {0, 1, 3, 8, 9, 40}) {
        SCOPED_TRACE(std::string(types[0]) + " " + types[1] + " " + types[2] + ", rows: " + std::to_string(rows));
        const Tensor x = random_tensor(DType::f32, {rows, kInputs}, 9), bias = random_tensor(DType::f32, {70}, 8);
        std::vector<StoredWeight> weights;
        std::vector<AffineMap> maps;
        for (std::size_t i = 0; i < 3; ++i) weights.push_back(stored(types[i], kOutputs[i], kInputs));
        for (std::size_t i = 0; i < 3; ++i) maps.push_back({weights[i], i == 0 ? ConstView(bias) : ConstView()});
        const Tensor expected = Tensor::empty(DType::f32, {rows, 111});
        Index begin = 0;
        for (const AffineMap& map : maps) {
          linear(x, map.weight, map.bias, slice(expected.view(), 1, begin, begin + map.weight.outputs()));
          begin += map.weight.outputs();
        }
        for (int threads : {1, 2, 3}) {
          set_thread_count(threads);
          const Tensor y = Tensor::zeros(DType::f32, {rows, 111});
          linear(x, maps, y);
          EXPECT_TRUE(same_bits(y, expected)) << threads << " threads";
        }
      }
    }
  }
  force_simd_target(0);
  set_thread_count(saved);
}

TEST(Linear, NamesTheShapesItRefuses) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 4}), weight = Tensor::zeros(DType::f32, {3, 5}),
               y = Tensor::zeros(DType::f32, {2, 3});
  EXPECT_NE(refusal([&] { linear(x, weight, {}, y); }).find("linear: needs x [R, In]"), std::string::npos);
  EXPECT_NE(refusal([&] {
              linear(x, Tensor::zeros(DType::f32, {3, 4}), x, y);
            }).find("bias must be"),
            std::string::npos);
  const Tensor fits = Tensor::zeros(DType::f32, {2, 4});
  const std::array maps{AffineMap{fits, {}}, AffineMap{weight, {}}};
  EXPECT_NE(refusal([&] { linear(x, std::span<const AffineMap>(), y); }).find("0 maps"), std::string::npos);
  EXPECT_NE(refusal([&] { linear(x, maps, y); }).find("needs y [R, 5] for 2 maps, but got f32 [2, 3]"),
            std::string::npos);
  EXPECT_NE(refusal([&] { linear(x, maps, Tensor::zeros(DType::f32, {2, 5})); }).find("f32 [3, 5]"), std::string::npos);
  EXPECT_NE(refusal([&] { linear_backward(x, weight, y, x, {}, {}); }).find("f32 [3, 5]"), std::string::npos);
  EXPECT_NE(refusal([&] { linear_backward(x, weight, y, {}, weight, {}); }).find("dweight"), std::string::npos);
  EXPECT_NE(refusal([&] { linear_backward(x, weight, y, {}, {}, x); }).find("dbias"), std::string::npos);
}

}  // namespace
}  // namespace heed
