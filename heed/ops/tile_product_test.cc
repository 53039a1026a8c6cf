#include "heed/ops/tile_product.h"

#include <gtest/gtest.h>
#include <hwy/detect_targets.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "heed/base/float16.h"
#include "heed/kernels/target.h"
#include "heed/kernels/tile_products.h"
#include "heed/ops/linear.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/operator_call.h"

namespace heed {
namespace {

using kernels::TileNumbers;
using testing::largest_difference;
using testing::random_tensor;
using testing::same_bits;

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

class TileProductTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kernels::has_tile_products(TileNumbers::bf16)) GTEST_SKIP() << "this machine has no AMX";
  }
  void TearDown() override { force_simd_target(0); }
};

Tensor product(const Tensor& x, const Weight& weight, const ConstView& bias = {}) {
  Tensor y = Tensor::empty(DType::f32, {x.dim(0), weight.outputs()});
  linear(x, weight, bias, y);
  return y;
}

float upper_half(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFF0000u); }

// The sum that kernels/tile_products.h defines.
float sum_in_order(std::span<const float> x, std::span<const float> weights) {
  constexpr std::size_t kLine = 32;
  float sum = 0;
  for (std::size_t line = 0; line < x.size(); line += kLine) {
    std::vector<float> pieces[3];
    for (std::size_t i = line; i < std::min(line + kLine, x.size()); ++i) {
      const float high = upper_half(x[i]), middle = upper_half(x[i] - high), low = x[i] - high - middle;
      pieces[0].push_back(low), pieces[1].push_back(middle), pieces[2].push_back(high);
    }
    for (const std::vector<float>& piece : pieces) {
      float chains[2] = {};
      for (std::size_t i = 0; i < piece.size(); ++i) {
        chains[i % 2] = std::fma(piece[i], weights[line + i], chains[i % 2]);
      }
      sum += chains[0] + chains[1];
    }
  }
  return sum;
}

TEST_F(TileProductTest, EverySumHasTheOrderThatIsDefinedWhateverTheShape) {
  const Index shapes[][3] = {{1, 1, 1},    {1, 16, 32}, {3, 40, 64},   {5, 70, 33},    {16, 64, 256},
                             {17, 65, 31}, {2, 5, 300}, {40, 130, 90}, {300, 20, 600}, {9, 1100, 40}};
  for (const auto& [rows, outputs, inputs] : shapes) {
    const Tensor x = random_tensor(DType::f32, {rows, inputs}, 1), bias = random_tensor(DType::f32, {outputs}, 2);
    const Tensor weight = random_tensor(DType::f32, {outputs, inputs}, 3).to(DType::bf16);
    const Tensor wide = weight.to(DType::f32), y = product(x, weight, bias.view());
    for (Index r = 0; r < rows; ++r) {
      for (Index o = 0; o < outputs; ++o) {
        const auto size = static_cast<std::size_t>(inputs);
        const float sum = sum_in_order({&x.at<float>({r, 0}), size}, {&wide.at<float>({o, 0}), size});
        ASSERT_EQ(y.at<float>({r, o}), sum + bias.at<float>({o})) << rows << " " << outputs << " " << inputs;
      }
    }
  }
}

TEST_F(TileProductTest, NothingOfARowIsLostToThePieces) {
  // One weight of one finds every number to the bit; sums find what pieces leave out.
  const std::vector<float> numbers{
      1.0f / 3, -0.1f, 3e38f, -std::numeric_limits<float>::max(), 1e-30f, 0x1.FFFFFEp9f, -0.0f, 7, 0x1.000002p0f};
  const auto inputs = static_cast<Index>(numbers.size());
  const Tensor x = Tensor::from<float>(numbers, {1, inputs}), ones = Tensor::empty(DType::f32, {inputs, inputs});
  for (Index o = 0; o < inputs; ++o) {
    for (Index i = 0; i < inputs; ++i) ones.at<float>({o, i}) = o == i ? 1.0f : 0.0f;
  }
  EXPECT_EQ(largest_difference(product(x, ones.to(DType::bf16)).view(), x.view()), 0);

  const Tensor many = random_tensor(DType::f32, {20, 700}, 1), weight = random_tensor(DType::f32, {30, 700}, 2);
  const Tensor narrow = weight.to(DType::bf16), wide = narrow.to(DType::f64), y = product(many, narrow);
  for (Index r = 0; r < 20; ++r) {
    for (Index o = 0; o < 30; ++o) {
      double sum = 0, magnitudes = 0;
      for (Index i = 0; i < 700; ++i) {
        const double term = double{many.at<float>({r, i})} * wide.at<double>({o, i});
        sum += term, magnitudes += std::abs(term);
      }
      EXPECT_NEAR(y.at<float>({r, o}), sum, std::ldexp(magnitudes, -22)) << r << " " << o;
    }
  }
}

TEST_F(TileProductTest, ARowThatIsNotFiniteGivesWhatItGivesInF32AndNoOtherRowDoes) {
  const Tensor weight = random_tensor(DType::f32, {20, 40}, 1).to(DType::bf16), wide = weight.to(DType::f32);
  const Tensor finite = random_tensor(DType::f32, {20, 40}, 2), x = Tensor::copy_of(finite.view());
  x.at<float>({0, 3}) = kInfinity;
  x.at<float>({1, 0}) = -kInfinity, x.at<float>({1, 39}) = kInfinity;
  x.at<float>({2, 7}) = kNaN;
  x.at<float>({3, 9}) = std::bit_cast<float>(0x7F800001u);  // a NaN whose upper half is an infinity's
  const Tensor y = product(x, weight), expected = product(x, wide), without = product(finite, weight);
  for (Index o = 0; o < 20; ++o) {
    EXPECT_EQ(y.at<float>({0, o}), expected.at<float>({0, o}));
    for (Index r = 1; r < 4; ++r) {
      const float found = y.at<float>({r, o}), in_f32 = expected.at<float>({r, o});
      EXPECT_TRUE(found == in_f32 || (std::isnan(found) && std::isnan(in_f32))) << r << ": " << found << " " << in_f32;
    }
  }
  EXPECT_TRUE(same_bits(y.rows(4, 20), without.rows(4, 20)));
}

TEST_F(TileProductTest, NothingIsReadBehindTheWeightNorOfTheNextRow) {
  const Index page = ::sysconf(_SC_PAGESIZE), bytes = 32 * page;
  void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes + page), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  char* const end = static_cast<char*>(memory) + bytes;
  ASSERT_EQ(::mprotect(end, static_cast<std::size_t>(page), PROT_NONE), 0);
  for (Index inputs : {1, 31, 32, 33, 64, 100}) {
    for (Index outputs : {1, 15, 16, 37, 64, 130}) {
      const Tensor values = random_tensor(DType::f32, {outputs + 1, inputs}, 1).to(DType::bf16);
      for (Index i = 0; i < inputs; ++i) values.at<BFloat16>({outputs, i}) = to_bfloat16(kNaN);
      const Tensor weight = values.rows(0, outputs);
      const auto size = static_cast<std::size_t>(outputs * inputs);
      auto* const at = reinterpret_cast<BFloat16*>(end) - outputs * inputs;
      std::copy_n(weight.data<BFloat16>(), size, at);
      for (Index rows : {1, 20}) {
        const Tensor x = random_tensor(DType::f32, {rows, inputs}, 2), y = product(x, weight);
        EXPECT_TRUE(same_bits(product(x, Weight(make_view(at, {outputs, inputs}))), y)) << inputs << " " << outputs;
        for (Index i = 0; i < y.size(); ++i) ASSERT_TRUE(std::isfinite(y.data<float>()[i])) << inputs << " " << outputs;
      }
    }
  }
  ::munmap(memory, static_cast<std::size_t>(bytes + page));
}

TEST(TileProduct, BelowAvx512ThereAreNone) {  // and weight_test.cc has the bits of the widened weight
  for (std::int64_t target : simd_targets()) {
    if (target <= HWY_AVX3) continue;  // lower bits are better targets
    force_simd_target(target);
    EXPECT_FALSE(kernels::has_tile_products(TileNumbers::bf16)) << simd_target_name(target);
    EXPECT_FALSE(kernels::has_tile_products(TileNumbers::bytes)) << simd_target_name(target);
  }
  force_simd_target(0);
}

}  // namespace
}  // namespace heed
