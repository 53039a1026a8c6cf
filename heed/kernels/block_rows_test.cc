#include "heed/kernels/block_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "heed/testing/random_blocks.h"

namespace heed::kernels {
namespace {

class BlockRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_digit_products()) GTEST_SKIP() << "this machine has no AVX512-VNNI";
  }
};

// Products of rows of x [count, width] with all rows of blocks.
std::vector<float> products(const std::vector<float>& x, Index count, BlockType type, const Tensor& blocks) {
  const Index width = static_cast<Index>(x.size()) / count, outputs = blocks.dim(0);
  const Index shares = UnpackedRows::shares_of(width);
  const auto many = [](Index size) { return static_cast<std::size_t>(size); };
  std::vector<std::int8_t> digits(many(count * digit_row_bytes(width)));
  std::vector<DigitTerms> terms(many(count));
  std::vector<float> sums(many(count * shares), 77), scale(many(outputs * shares), 77), less = scale;
  std::vector<std::uint8_t> bytes(many(outputs * digit_row_bytes(width) / kDigits), 77);
  for (Index r = 0; r < count; ++r) {
    std::int8_t* const row = digits.data() + r * digit_row_bytes(width);
    split_digits(x.data() + r * width, width, row, &terms[many(r)]);
    sum_digits(row, width, sums.data() + r * shares);
  }
  const UnpackedRows rows{type, bytes.data(), scale.data(), less.data(), outputs, width};
  unpack_blocks(blocks.data<unsigned char>(), rows);
  std::vector<float> y(many(count * outputs));
  block_products({{digits.data(), terms.data(), count}, sums.data()}, rows, nullptr, {y.data(), outputs, 1});
  return y;
}

TEST_F(BlockRowsTest, ARowWithASingleOneFindsEachNumberToTheBit) {
  constexpr Index kOutputs = 5;
  for (BlockType type : testing::kBlockTypes) {
    for (Index width : {256, 768}) {
      const Tensor blocks = testing::random_blocks(type, kOutputs, width, 1);
      std::vector<float> wide(static_cast<std::size_t>(kOutputs * width)), x(static_cast<std::size_t>(width * width));
      widen_blocks(type, blocks.data<unsigned char>(), kOutputs * width / layout_of(type).numbers, wide.data());
      for (Index i = 0; i < width; ++i) x[static_cast<std::size_t>(i * width + i)] = i % 2 == 0 ? 1 : -0.5f;
      const std::vector<float> y = products(x, width, type, blocks);
      for (Index i = 0; i < width; ++i)
        for (Index o = 0; o < kOutputs; ++o) {
          const float expected = wide[static_cast<std::size_t>(o * width + i)] * (i % 2 == 0 ? 1 : -0.5f);
          ASSERT_EQ(y[static_cast<std::size_t>(i * kOutputs + o)], expected) << name_of(type) << " " << i << " " << o;
        }
    }
  }
}

TEST_F(BlockRowsTest, ARowMayEndInTheMiddleOfALine) {
  const Tensor blocks = testing::random_blocks(BlockType::q5_1, 3, 96, 2);
  std::vector<float> wide(3 * 96);
  widen_blocks(BlockType::q5_1, blocks.data<unsigned char>(), 9, wide.data());
  const std::vector<float> y = products(std::vector<float>(96, 1), 1, BlockType::q5_1, blocks);
  for (std::size_t o = 0; o < 3; ++o) {
    double sum = 0, magnitudes = 0;
    for (std::size_t i = 0; i < 96; ++i) sum += wide[o * 96 + i], magnitudes += std::abs(wide[o * 96 + i]);
    EXPECT_NEAR(y[o], sum, 1e-6 * magnitudes);
  }
}

TEST_F(BlockRowsTest, FourOfTheLargestProductsStayWithin32Bits) {
  // The largest numbers without a sign: 255 of Q8_0, 63 of Q6_K, which is 31 with its sign, times a scale of 127.
  for (const auto& [type, number] : {std::pair{BlockType::q8_0, 127.0}, {BlockType::q6_k, 31.0 * 127}}) {
    Tensor blocks = Tensor::empty(DType::i8, {1, bytes_of_row(type, 256)});
    std::ranges::fill_n(blocks.data<std::int8_t>(), blocks.size(), type == BlockType::q8_0 ? 127 : -1);
    auto* const bytes = blocks.data<unsigned char>();
    for (Index half : testing::halves_of(type)) {
      for (Index at = half; at < blocks.size(); at += layout_of(type).bytes) bytes[at] = 0, bytes[at + 1] = 0x3C;  // 1
    }
    if (type == BlockType::q6_k) std::fill_n(bytes + 192, 16, 127);
    for (float sign : {1.0f, -1.0f}) {
      const std::vector<float> y = products(std::vector<float>(256, sign * 0x7F7F7F), 1, type, blocks);
      const double exact = sign * number * 0x7F7F7F * 256;
      EXPECT_NEAR(y[0], exact, 4e-6 * std::abs(exact)) << name_of(type);
    }
  }
}

TEST_F(BlockRowsTest, ARowWithANumberThatIsNotFiniteHasOnlyNanProducts) {
  const Tensor blocks = testing::random_blocks(BlockType::q4_k, 2, 256, 3);
  std::vector<float> x(256, 1);
  x[200] = std::numeric_limits<float>::infinity();
  for (float y : products(x, 1, BlockType::q4_k, blocks)) EXPECT_TRUE(std::isnan(y));
}

}  // namespace
}  // namespace heed::kernels
