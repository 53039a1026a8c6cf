#include "heed/ops/weight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/digit_rows.h"
#include "heed/kernels/target.h"
#include "heed/kernels/tile_products.h"
#include "heed/ops/embedding.h"
#include "heed/ops/gemm.h"
#include "heed/ops/linear.h"
#include "heed/ops/loss.h"
#include "heed/tensor/quantise_rows.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/operator_call.h"
#include "heed/testing/random_blocks.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::largest_difference;
using testing::random_tensor;
using testing::refusal;
using testing::same_bits;

constexpr DType kNarrow[] = {DType::bf16, DType::f16, DType::i8};

// A weight in a narrow type, and the same in f32.
struct Twins {
  Tensor values, scales, wide;

  Twins(const Tensor& weight, DType dtype) {
    if (dtype == DType::i8) {
      values = Tensor::empty(DType::i8, {weight.dim(0), weight.dim(1)});
      scales = Tensor::empty(DType::f32, {weight.dim(0)});
      quantise_rows(weight, values, scales);
    } else {
      values = weight.to(dtype);
    }
    wide = Tensor::empty(DType::f32, {weight.dim(0), weight.dim(1)});
    for (Index i = 0; i < weight.dim(0); ++i) {
      for (Index j = 0; j < weight.dim(1); ++j) {
        wide.at<float>({i, j}) = dtype == DType::bf16  ? to_float(values.at<BFloat16>({i, j}))
                                 : dtype == DType::f16 ? to_float(values.at<Float16>({i, j}))
                                 : dtype == DType::f32
                                     ? values.at<float>({i, j})
                                     : static_cast<float>(values.at<std::int8_t>({i, j})) * scales.at<float>({i});
      }
    }
  }
  Weight narrow() const { return {values.view(), scales.view()}; }
};

// y = x W^T + b in whole numbers, as kernels/digit_rows.h defines it.
Tensor product_in_whole_numbers(const Tensor& x, const Twins& twins, const ConstView& bias) {
  const Index rows = x.dim(0), outputs = twins.values.dim(0), inputs = x.dim(1);
  Tensor y = Tensor::empty(DType::f32, {rows, outputs});
  for (Index r = 0; r < rows; ++r) {
    float largest = 0;
    for (Index i = 0; i < inputs; ++i) largest = std::max(largest, std::abs(x.at<float>({r, i})));
    int exponent = 0;
    const bool more = std::ldexp(std::frexp(largest, &exponent), 23) > 0x7F7F7F;
    exponent = std::max(exponent - 23 + (more ? 1 : 0), -126);
    for (Index o = 0; o < outputs; ++o) {
      std::int64_t sum = 0;
      for (Index i = 0; i < inputs; ++i)
        sum += std::llrint(std::ldexp(double{x.at<float>({r, i})}, -exponent)) * twins.values.at<std::int8_t>({o, i});
      const double factor = std::ldexp(double{twins.scales.at<float>({o})}, exponent);
      y.at<float>({r, o}) = static_cast<float>(static_cast<double>(sum) * factor);
      if (bias) y.at<float>({r, o}) += bias.at<float>({o});
    }
  }
  return y;
}

class WeightTest : public ::testing::Test {
 protected:
  void TearDown() override {
    force_simd_target(0);
    set_thread_count(threads_);
  }

 private:
  const int threads_ = thread_count();
};

TEST_F(WeightTest, AProductHasTheBitsOfTheWidenedWeightOrOfWholeNumbersForEveryTypeShapeAndTarget) {
  const Index shapes[][3] = {{1, 1, 1},     {1, 7, 3},      {5, 300, 9},    {3, 4, 0},
                             {0, 4, 5},     {9, 0, 5},      {33, 65, 129},  {2, 17, 512},
                             {70, 40, 513}, {1, 700, 1100}, {6, 33, 70000}, {300, 513, 64}};
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (const auto& [rows, outputs, inputs] : shapes) {
      const Tensor x = random_tensor(DType::f32, {rows, inputs}, 1), bias = random_tensor(DType::f32, {outputs}, 2);
      const Tensor weight = random_tensor(DType::f32, {outputs, inputs}, 3);
      for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
        // Those by AMX's tiles have another order of sums: tile_product_test.cc has them.
        if (dtype == DType::bf16 && kernels::has_tile_products(kernels::TileNumbers::bf16)) continue;
        const Twins twins(weight, dtype);
        for (const ConstView& given : {ConstView(bias.view()), ConstView()}) {
          const Tensor y = Tensor::empty(DType::f32, {rows, outputs});
          Tensor expected = Tensor::empty_like(y.view());
          linear(x, twins.narrow(), given, y);
          gemm(x, transpose(twins.wide.view(), 0, 1), expected, {.bias = given});
          if (dtype == DType::i8 && inputs > 0 && kernels::has_digit_products()) {
            const Tensor exact = product_in_whole_numbers(x, twins, given);
            EXPECT_LE(largest_difference(exact.view(), expected.view()), 1e-4) << inputs;
            expected = exact;
          }
          ASSERT_TRUE(same_bits(y, expected))
              << simd_target_name(target) << " " << name_of(dtype) << " " << rows << " " << outputs << " " << inputs;
        }
      }
    }
  }
}

TEST_F(WeightTest, ARowsProductHasTheSameBitsInAnyBatchAndOnAnyNumberOfThreads) {
  const Tensor x = random_tensor(DType::f32, {150, 600}, 1), weight = random_tensor(DType::f32, {700, 600}, 2);
  for (DType dtype : kNarrow) {
    const Twins twins(weight, dtype);
    const Tensor expected = Tensor::empty(DType::f32, {150, 700});
    set_thread_count(1);
    linear(x, twins.narrow(), {}, expected);
    for (int threads : {1, 2, 5}) {
      set_thread_count(threads);
      for (Index rows : {1, 2, 9, 67, 150}) {
        const Tensor y = Tensor::empty(DType::f32, {rows, 700});
        linear(x.rows(0, rows), twins.narrow(), {}, y);
        ASSERT_TRUE(same_bits(y, expected.rows(0, rows))) << name_of(dtype) << " " << threads << " " << rows;
      }
    }
  }
}

TEST_F(WeightTest, SumsOfTheLargestNumbersOfInt8AreExactForFewAndManyRows) {
  if (!kernels::has_digit_products()) GTEST_SKIP() << "this machine has no AVX512-VNNI: products are in f32";
  for (Index inputs : {65536, 65537}) {
    const Tensor values = Tensor::empty(DType::i8, {2, inputs}), scales = Tensor::from<float>({1, 0.5f}, {2});
    for (Index i = 0; i < inputs; ++i) values.at<std::int8_t>({0, i}) = 127, values.at<std::int8_t>({1, i}) = -127;
    for (Index rows : {1, 9}) {
      const Tensor x = Tensor::empty(DType::f32, {rows, inputs}), y = Tensor::empty(DType::f32, {rows, 2});
      std::ranges::fill(std::span(x.data<float>(), static_cast<std::size_t>(x.size())), 0x7F7F7F);
      linear(x, {values.view(), scales.view()}, {}, y);
      const double sum = 127.0 * 0x7F7F7F * static_cast<double>(inputs);
      for (Index r = 0; r < rows; ++r) {
        EXPECT_EQ(y.at<float>({r, 0}), static_cast<float>(sum)) << rows << " " << inputs;
        EXPECT_EQ(y.at<float>({r, 1}), static_cast<float>(sum * -0.5)) << rows << " " << inputs;
      }
    }
  }
}

TEST_F(WeightTest, AnyLayoutOfRowsAndResultsHasTheSameBits) {
  for (Index rows : {3, 40}) {
    const Tensor x = random_tensor(DType::f32, {rows, 90}, 1), columns = Tensor::empty(DType::f32, {90, rows});
    for (Index r = 0; r < rows; ++r) {
      for (Index i = 0; i < 90; ++i) columns.at<float>({i, r}) = x.at<float>({r, i});
    }
    for (DType dtype : kNarrow) {
      const Twins twins(random_tensor(DType::f32, {11, 90}, 2), dtype);
      const Tensor expected = Tensor::empty(DType::f32, {rows, 11}), y = Tensor::empty(DType::f32, {11, rows});
      linear(x, twins.narrow(), {}, expected);
      linear(transpose(columns.view(), 0, 1), twins.narrow(), {}, transpose(y.view(), 0, 1));
      EXPECT_TRUE(same_bits(Tensor::copy_of(transpose(y.view(), 0, 1)), expected)) << name_of(dtype) << " " << rows;
    }
  }
}

TEST_F(WeightTest, RowsOfAWeightAreTheOutputsOfThoseRows) {
  const Tensor x = random_tensor(DType::f32, {3, 20}, 1);
  for (DType dtype : kNarrow) {
    const Twins twins(random_tensor(DType::f32, {12, 20}, 2), dtype);
    const Tensor all = Tensor::empty(DType::f32, {3, 12}), some = Tensor::empty(DType::f32, {3, 4});
    linear(x, twins.narrow(), {}, all);
    linear(x, twins.narrow().rows(5, 9), {}, some);
    EXPECT_TRUE(same_bits(some, Tensor::copy_of(slice(all.view(), 1, 5, 9)))) << name_of(dtype);
  }
}

TEST_F(WeightTest, ALookupHasTheBitsOfTheWidenedTableOnEveryTarget) {
  const Tensor ids = Tensor::from<std::int32_t>({3, 0, 6, 3}, {2, 2});
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (DType dtype : kNarrow) {
      const Twins twins(random_tensor(DType::f32, {7, 37}, 1), dtype);
      const Tensor y = Tensor::empty(DType::f32, {2, 2, 37}), expected = Tensor::empty_like(y.view());
      embedding(twins.narrow(), ids, 0.7, y);
      embedding(twins.wide, ids, 0.7, expected);
      EXPECT_TRUE(same_bits(y, expected)) << simd_target_name(target) << " " << name_of(dtype);
    }
  }
}

TEST_F(WeightTest, ALossIsThatOfTheWidenedWeight) {
  const Tensor x = random_tensor(DType::f32, {9, 20}, 1);
  const Tensor targets = Tensor::from<std::int32_t>({1, 2, 3, 0, 4, 50, 12, 7, 60}, {9});
  for (DType dtype : kNarrow) {
    const Twins twins(random_tensor(DType::f32, {61, 20}, 2), dtype);
    const LossResult narrow = linear_cross_entropy(x, twins.narrow(), {}, targets, {.label_smoothing = 0.1});
    const LossResult wide = linear_cross_entropy(x, twins.wide, {}, targets, {.label_smoothing = 0.1});
    // Products in whole numbers round otherwise, and so do those of AMX's tiles.
    const bool in_tiles = dtype == DType::bf16 && kernels::has_tile_products(kernels::TileNumbers::bf16);
    const double tolerance = dtype == DType::i8 || in_tiles ? 1e-6 : 0;
    EXPECT_NEAR(narrow.loss_sum, wide.loss_sum, tolerance * wide.loss_sum) << name_of(dtype);
    EXPECT_NEAR(narrow.nll_sum, wide.nll_sum, tolerance * wide.nll_sum) << name_of(dtype);
    const Tensor dx = Tensor::empty_like(x.view());
    EXPECT_NE(refusal([&] {
                linear_cross_entropy(x, twins.narrow(), {}, targets, {}, dx);
              }).find("linear_cross_entropy: a narrow weight has no gradient"),
              std::string::npos);
  }
}

TEST_F(WeightTest, AnInt8RowIsWithinHalfAStepOfItsWeightAndReachesItsLargest) {
  const Tensor weight = random_tensor(DType::f32, {40, 33}, 1);
  const Twins twins(weight, DType::i8);
  for (Index i = 0; i < 40; ++i) {
    float largest = 0;
    int most = 0;
    for (Index j = 0; j < 33; ++j) {
      largest = std::max(largest, std::abs(weight.at<float>({i, j})));
      most = std::max(most, std::abs(int{twins.values.at<std::int8_t>({i, j})}));
      const double step = twins.scales.at<float>({i});
      // What the product with the scale rounds is far below a step.
      EXPECT_LE(std::abs(double{twins.wide.at<float>({i, j})} - double{weight.at<float>({i, j})}), 0.5001 * step);
    }
    EXPECT_EQ(twins.scales.at<float>({i}), largest / 127);
    EXPECT_EQ(most, 127);
  }
}

TEST_F(WeightTest, TiesOfInt8GoToTheEvenNumber) {
  const Twins twins(Tensor::from<float>({127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -127}, {1, 7}), DType::i8);
  EXPECT_TRUE(same_bits(twins.values, Tensor::from<std::int8_t>({127, 0, 2, 2, 0, -2, -127}, {1, 7})));
}

TEST_F(WeightTest, ARowOfZerosOrOfNumbersTooSmallForAScaleIsZeros) {
  constexpr float kLeast = std::numeric_limits<float>::denorm_min(), kMost = std::numeric_limits<float>::max();
  const Twins twins(Tensor::from<float>({0, -0.0f, kLeast, -kLeast, 150 * kLeast, 75 * kLeast, kMost, -kMost}, {4, 2}),
                    DType::i8);
  // The third row's scale is the least number there is, and the first of the row is more than 127 of it.
  EXPECT_TRUE(same_bits(twins.values, Tensor::from<std::int8_t>({0, 0, 0, 0, 127, 75, 127, -127}, {4, 2})));
  EXPECT_TRUE(same_bits(twins.scales, Tensor::from<float>({0, 0, kLeast, kMost / 127}, {4})));
}

TEST_F(WeightTest, RefusesScalesThatDoNotFit) {
  const Tensor x = random_tensor(DType::f32, {2, 3}, 1), y = Tensor::empty(DType::f32, {2, 4});
  const Tensor bytes = Tensor::zeros(DType::i8, {4, 3}), halves = Tensor::zeros(DType::bf16, {4, 3});
  const Tensor scales = Tensor::zeros(DType::f32, {4}), ids = Tensor::zeros(DType::i32, {2});
  const auto refuses = [&](const Weight& weight) {
    const std::string message = refusal([&] { linear(x, weight, {}, y); });
    EXPECT_EQ(message.find("linear: "), 0u) << message;
    const Tensor rows = Tensor::empty(DType::f32, {2, 3});
    EXPECT_EQ(refusal([&] { embedding(weight, ids, 1, rows); }).find("embedding: "), 0u);
  };
  refuses(bytes);
  refuses({bytes.view(), scales.rows(0, 3).view()});
  refuses({bytes.view(), Tensor::zeros(DType::f64, {4}).view()});
  refuses({bytes.view(), Tensor::zeros(DType::f32, {4, 1}).view()});
  refuses({halves.view(), scales.view()});
  refuses({random_tensor(DType::f32, {4, 3}, 1).view(), scales.view()});
  refuses(transpose(Tensor::zeros(DType::bf16, {3, 4}).view(), 0, 1));
  EXPECT_NE(refusal([&] { linear(x.to(DType::f64), halves, {}, y); }), "no error");
  EXPECT_NE(refusal([&] { linear_backward(x, halves, y, Tensor::empty_like(x.view()), {}, {}); }), "no error");
  EXPECT_NE(refusal([&] { embedding_backward(ids, 1, x, halves); }), "no error");
  EXPECT_NE(refusal([&] { quantise_rows(x, bytes, scales); }), "no error");
}

TEST_F(WeightTest, BadViewsOfNarrowWeightsAreRefused) {
  using enum testing::ViewPart;
  const testing::Extents extents{{'R', 3}, {'I', 5}, {'O', 10}};
  const testing::OperatorCall product{
      "linear",
      {{"x", "RI"}, {"weight", "OI", read, DType::i8}, {"scales", "O"}, {"bias", "O", optional}, {"y", "RO", written}},
      [](const testing::CallViews& v) {
        linear(v[0], {v[1], v[2]}, v[3], v[4]);
      },
      "RIO"};
  EXPECT_EQ(testing::complaints_about_bad_views(product, extents), "");
  const testing::OperatorCall lookup{
      "embedding",
      {{"table", "OI", read, DType::i8}, {"scales", "O"}, {"ids", "R", read, DType::i32}, {"y", "RI", written}},
      [](const testing::CallViews& v) {
        embedding({v[0], v[1]}, v[2], 2, v[3]);
      },
      "RI"};
  EXPECT_EQ(testing::complaints_about_bad_views(lookup, extents), "");
  const testing::OperatorCall rounding{
      "quantise_rows",
      {{"weight", "OI"}, {"values", "OI", written, DType::i8}, {"scales", "O", written}},
      [](const testing::CallViews& v) { quantise_rows(v[0], v[1], v[2]); },
      "OI"};
  EXPECT_EQ(testing::complaints_about_bad_views(rounding, extents), "");
}

// A weight of blocks, and the same in f32.
struct BlockTwins {
  Tensor bytes, wide;
  BlockType type;

  BlockTwins(BlockType of, Index outputs, Index inputs)
      : bytes(testing::random_blocks(of, outputs, inputs, 3)),
        wide(Tensor::empty(DType::f32, {outputs, inputs})),
        type(of) {
    widen_blocks(type, bytes.data<unsigned char>(), wide.size() / layout_of(type).numbers, wide.data<float>());
  }
  Weight narrow() const { return {bytes.view(), {}, type}; }
};

// What a rounding of each number to 24 bits of its row's largest, and sums in f32, may bring.
double rounding_of(const Tensor& x, const Tensor& weight) {
  const Tensor all = Tensor::empty(DType::f32, {x.dim(0), weight.dim(0)});
  const auto magnitudes = [](const Tensor& of) {
    Tensor result = Tensor::copy_of(of.view());
    for (Index i = 0; i < result.size(); ++i) result.data<float>()[i] = std::abs(result.data<float>()[i]);
    return result;
  };
  linear(magnitudes(x), magnitudes(weight), {}, all);
  return 1e-6 * double{*std::max_element(all.data<float>(), all.data<float>() + all.size())};
}

TEST_F(WeightTest, AProductWithBlocksIsThatOfTheWidenedWeightOnEveryTarget) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (BlockType type : testing::kBlockTypes) {
      for (const auto& [rows, outputs, inputs] :
           {std::array<Index, 3>{1, 7, 256}, {3, 70, 512}, {70, 33, 1024}, {9, 5, 768}, {2, 0, 256}}) {
        const BlockTwins twins(type, outputs, inputs);
        const Tensor x = random_tensor(DType::f32, {rows, inputs}, 1), bias = random_tensor(DType::f32, {outputs}, 2);
        const Tensor expected = Tensor::empty(DType::f32, {rows, outputs}), y = Tensor::empty_like(expected.view());
        linear(x, twins.wide, bias, expected);
        linear(x, twins.narrow(), bias, y);
        const double tolerance = outputs > 0 && kernels::has_digit_products() ? rounding_of(x, twins.wide) : 0;
        for (Index i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y.data<float>()[i], expected.data<float>()[i], tolerance)
              << simd_target_name(target) << " " << name_of(type) << " " << rows << " " << outputs << " " << i;
        }
      }
    }
  }
}

TEST_F(WeightTest, ARowsProductWithBlocksHasTheSameBitsInAnyBatchLayoutAndOnAnyNumberOfThreads) {
  for (BlockType type : testing::kBlockTypes) {
    const BlockTwins twins(type, 150, 512);
    const Tensor x = random_tensor(DType::f32, {70, 512}, 1), expected = Tensor::empty(DType::f32, {70, 150});
    set_thread_count(1);
    linear(x, twins.narrow(), {}, expected);
    for (int threads : {1, 3}) {
      set_thread_count(threads);
      for (Index rows : {1, 2, 3, 4, 9, 70}) {
        const Tensor y = Tensor::empty(DType::f32, {rows, 150}), columns = Tensor::empty(DType::f32, {150, rows});
        linear(x.rows(0, rows), twins.narrow(), {}, y);
        linear(x.rows(0, rows), twins.narrow(), {}, transpose(columns.view(), 0, 1));
        ASSERT_TRUE(same_bits(y, expected.rows(0, rows))) << name_of(type) << " " << threads << " " << rows;
        ASSERT_TRUE(same_bits(Tensor::copy_of(transpose(columns.view(), 0, 1)), y)) << name_of(type) << " " << rows;
      }
    }
  }
}

TEST_F(WeightTest, ALookupAndRowsAreThoseOfTheWidenedBlocks) {
  const Tensor ids = Tensor::from<std::int32_t>({3, 0, 8, 3}, {2, 2}), x = random_tensor(DType::f32, {3, 512}, 1);
  for (BlockType type : testing::kBlockTypes) {
    const BlockTwins twins(type, 9, 512);
    const Tensor y = Tensor::empty(DType::f32, {2, 2, 512}), expected = Tensor::empty_like(y.view());
    embedding(twins.narrow(), ids, 3.5, y);
    embedding(twins.wide, ids, 3.5, expected);
    EXPECT_TRUE(same_bits(y, expected)) << name_of(type);
    const Tensor all = Tensor::empty(DType::f32, {3, 9}), some = Tensor::empty(DType::f32, {3, 4});
    linear(x, twins.narrow(), {}, all);
    linear(x, twins.narrow().rows(5, 9), {}, some);
    EXPECT_TRUE(same_bits(some, Tensor::copy_of(slice(all.view(), 1, 5, 9)))) << name_of(type);
  }
}

TEST_F(WeightTest, BlocksThatAreNoneAreNamed) {
  const BlockTwins twins(BlockType::q8_0, 4, 64);
  const Tensor x = Tensor::zeros(DType::f32, {1, 64}), y = Tensor::zeros(DType::f32, {1, 4});
  EXPECT_EQ(describe_weight(twins.narrow()), "Q8_0 [4, 64]");
  EXPECT_EQ(
      refusal([&] {
        linear(Tensor::zeros(DType::f32, {1, 68}), twins.narrow(), {}, y);
      }),
      "linear: needs x [R, In], weight [Out, In] and y [R, Out] of one type, or a narrow weight with f32, but got "
      "f32 [1, 68], Q8_0 [4, 64] and f32 [1, 4]");
  const Tensor cut = Tensor::zeros(DType::i8, {4, 67}), scales = Tensor::zeros(DType::f32, {4});
  EXPECT_EQ(
      refusal([&] {
        check_weight("f", {cut.view(), {}, BlockType::q8_0});
      }),
      "f: a weight of Q8_0 must be contiguous i8 [Out, bytes of whole blocks of 34] without scales, but is i8 [4, 67]");
  EXPECT_EQ(
      refusal([&] {
        check_weight("f", {twins.bytes.view(), scales.view(), BlockType::q8_0});
      }),
      "f: a weight of Q8_0 must be contiguous i8 [Out, bytes of whole blocks of 34] without scales, but is i8 [4, 68] "
      "with scales f32 [4]");
}

}  // namespace
}  // namespace heed
