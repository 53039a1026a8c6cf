#include "heed/kernels/stored_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "heed/kernels/ask_ahead.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/target.h"
#include "heed/kernels/widen.h"
#include "heed/testing/random_floats.h"

namespace heed::kernels {
namespace {

using testing::random_floats;

constexpr Index kGap = 3;  // between rows, so that few of them are aligned

// Rows in a type, and the same as floats without gaps.
struct Rows {
  std::vector<char> bytes;
  std::vector<float> scales, wide;
  StoredRows stored;

  Rows(DType dtype, Index count, Index width) {
    const Index row = width + kGap, size = size_of(dtype);
    bytes.resize(static_cast<std::size_t>(count * row * size));
    wide.resize(static_cast<std::size_t>(count * width));
    scales = random_floats(2 * count, 5);
    const std::vector<float> numbers = random_floats(count * row, 6);
    for (Index i = 0; i < count * row; ++i) {
      const float x = numbers[static_cast<std::size_t>(i)];
      char* to = bytes.data() + i * size;
      if (dtype == DType::f32) std::memcpy(to, &x, 4);
      if (const BFloat16 half = to_bfloat16(x); dtype == DType::bf16) std::memcpy(to, &half, 2);
      if (const Float16 half = to_float16(x); dtype == DType::f16) std::memcpy(to, &half, 2);
      if (dtype == DType::i8) *to = static_cast<char>(static_cast<std::int8_t>(std::clamp(x * 40, -128.0f, 127.0f)));
    }
    for (Index j = 0; j < count; ++j) {
      const char* from = bytes.data() + j * row * size;
      float* to = wide.data() + j * width;
      if (dtype == DType::f32) std::memcpy(to, from, static_cast<std::size_t>(width * 4));
      if (dtype == DType::bf16) widen(reinterpret_cast<const BFloat16*>(from), width, to);
      if (dtype == DType::f16) widen(reinterpret_cast<const Float16*>(from), width, to);
      if (dtype == DType::i8) {
        widen(reinterpret_cast<const std::int8_t*>(from), scales[static_cast<std::size_t>(2 * j)], width, to);
      }
    }
    stored = {.data = bytes.data(), .dtype = dtype, .count = count, .width = width, .row = row};
    stored.next = bytes.data() + bytes.size();  // asked for, and never there
    if (dtype == DType::i8) stored.scales = scales.data(), stored.scale_row = 2;
  }

  // Rows from `first` on.
  StoredRows part(Index first, Index count) const {
    StoredRows some = stored;
    some.data = bytes.data() + first * stored.row * size_of(stored.dtype), some.count = count;
    if (some.scales != nullptr) some.scales += first * some.scale_row;
    return some;
  }
};

template <typename F>
void for_every_target_and_type(const F& f) {
  for (std::int64_t target : simd_targets()) {
    force_simd_target(target);
    for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::i8}) {
      SCOPED_TRACE(std::string(simd_target_name(target)) + ", " + std::string(name_of(dtype)));
      f(dtype);
    }
  }
  force_simd_target(0);
}

TEST(StoredRows, ProductsHaveTheBitsOfTheTileOverWidenedRows) {
  for_every_target_and_type([](DType dtype) {
    for (Index rows : {1, 2, 4, 8}) {
      for (Index count : {1, 3, 16, 21, 37, 64}) {
        const Index sharing_a_set = kSetBytes / size_of(dtype) - kGap;  // rows of a width that is read another way
        for (Index width : {Index{1}, Index{2}, Index{3}, Index{5}, Index{16}, Index{31}, Index{64}, Index{130},
                            Index{512}, Index{1030}, sharing_a_set}) {
          Rows keys(dtype, count, width);
          // Of what follows, and of the last row, in place of all.
          if (count == 21) keys.stored.next_bytes = 1000, keys.stored.left_bytes = width;
          const std::vector<float> q = random_floats(width * rows, 7);
          std::vector<float> expected(static_cast<std::size_t>(rows * 70), 9), got = expected;
          in_chains({.m = rows,
                     .n = count,
                     .k = width,
                     .a = {q.data(), 1, rows},
                     .b = {keys.wide.data(), 1, width},
                     .c = expected.data(),
                     .c_row = 70,
                     .alpha = 0.3f},
                    gemm_tile);
          row_products(rows, q.data(), keys.stored, 0.3f, {got.data(), 70});
          ASSERT_EQ(std::memcmp(expected.data(), got.data(), expected.size() * sizeof(float)), 0)
              << rows << " rows, " << count << " x " << width;
        }
      }
    }
  });
}

TEST(StoredRows, SumsHaveTheBitsOfTheTileOverWidenedRowsInOnePartOrInTwo) {
  for_every_target_and_type([](DType dtype) {
    for (Index rows : {1, 2, 4, 8}) {
      for (Index count : {1, 3, 16, 21, 64}) {
        for (Index width : {1, 3, 16, 31, 64, 130, 300}) {
          Rows values(dtype, count, width);
          if (count == 21) values.stored.next_bytes = 1000, values.stored.left_bytes = width;
          const std::vector<float> weights = random_floats(rows * 70, 8);
          std::vector<float> expected(static_cast<std::size_t>(rows * width), 9);
          gemm_tile({.m = rows,
                     .n = width,
                     .k = count,
                     .a = {weights.data(), 70},
                     .b = {values.wide.data(), width},
                     .c = expected.data(),
                     .c_row = width});
          for (Index cut : {Index{0}, count / 3}) {
            std::vector<float> got(expected.size(), 9);
            if (cut > 0) {
              row_sums(rows, {weights.data(), 70}, values.part(0, cut), true, {got.data(), width});
            }
            row_sums(rows, {weights.data() + cut, 70}, values.part(cut, count - cut), cut == 0, {got.data(), width});
            ASSERT_EQ(std::memcmp(expected.data(), got.data(), expected.size() * sizeof(float)), 0)
                << rows << " rows, " << count << " x " << width << ", cut at " << cut;
          }
        }
      }
    }
  });
}

// What is asked for between rows is taken from what they ask for: first from what is left of them, then from what comes
// next, of which they keep something.
TEST(StoredRows, WhatIsAskedForBeforeTheyAreReadIsNotAskedForAgain) {
  const std::vector<float> numbers(4096);
  StoredRows rows{.data = numbers.data(),
                  .count = 16,
                  .width = 64,
                  .row = 64,
                  .next = numbers.data() + 2048,
                  .next_bytes = 600,
                  .left_bytes = 300};
  const auto expect = [&](Index left, Index next, Index on) {
    EXPECT_EQ(rows.left_bytes, left);
    EXPECT_EQ(rows.next_bytes, next);
    EXPECT_EQ(rows.next, static_cast<const char*>(static_cast<const void*>(numbers.data() + 2048)) + on);
  };
  ask_for_some(rows), expect(44, 600, 0);
  ask_for_some(rows), expect(44, 344, 256);
  ask_for_some(rows), expect(44, 88, 512);
  ask_for_some(rows), expect(44, 88, 512);
}

}  // namespace
}  // namespace heed::kernels
