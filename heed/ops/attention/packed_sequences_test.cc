// What a call over packed sequences checks before it writes anything, and what it tells its masks.
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <vector>

#include "heed/ops/attention/attention.h"
#include "heed/testing/gradient_check.h"
#include "heed/testing/refusal.h"

namespace heed {
namespace {

using testing::random_tensor;
using testing::refusal;

struct TwoSequences {
  Tensor q = random_tensor(DType::f32, {1, 2, 6, 4}, 1), k = random_tensor(DType::f32, {1, 2, 6, 4}, 2),
         v = random_tensor(DType::f32, {1, 2, 6, 4}, 3), out = Tensor::zeros_like(q);
  Tensor offsets = Tensor::from<std::int32_t>(std::vector<std::int32_t>{0, 2, 6}, {3});
  Workspace workspace;

  AttentionSpec spec(const Mask& mask = {}) const {
    return {.mask = mask, .sequences = {.query_offsets = offsets, .key_offsets = offsets}};
  }
};

TEST(PackedSequences, MustHaveTheirRowsNeitherFewerNorMore) {
  TwoSequences x;
  const Tensor long_out = Tensor::zeros(DType::f32, {1, 2, 9, 4}), long_v = random_tensor(DType::f32, {1, 2, 9, 4}, 4);
  EXPECT_EQ(refusal([&] { attention(x.q, x.k, x.v, x.spec(), {.out = long_out}, x.workspace); }),
            "attention: out of packed sequences must be [1, H, 6, ...], but is f32 [1, 2, 9, 4]");
  EXPECT_EQ(refusal([&] { attention(x.q, x.k, long_v, x.spec(), {.out = x.out}, x.workspace); }),
            "attention: v of packed sequences must be [1, H, 6, ...], but is f32 [1, 2, 9, 4]");
}

TEST(PackedSequences, OverlapsAreSeenAcrossSequences) {
  TwoSequences x;
  const Tensor shared = random_tensor(DType::f32, {1, 2, 10, 4}, 5);
  const View q = slice(shared.view(), 2, 4, 10), out = slice(shared.view(), 2, 0, 6);  // no sequence overlaps itself
  EXPECT_EQ(refusal([&] { attention(q, x.k, x.v, x.spec(), {.out = out}, x.workspace); }).substr(0, 24),
            "attention: out overlaps ");
}

TEST(PackedSequences, NothingIsWrittenWhereALaterOneIsWrong) {
  TwoSequences x;
  const Tensor lengths = Tensor::from<std::int32_t>(std::vector<std::int32_t>{2, 5}, {2});  // the second has 4 keys
  fill(x.out, 7);
  EXPECT_EQ(refusal([&] { attention(x.q, x.k, x.v, x.spec(Mask::key_lengths(lengths)), {.out = x.out}, x.workspace); }),
            "attention: key lengths must be in [0, Lk = 4], but that of batch element 0 is 5");
  for (Index i = 0; i < x.out.size(); ++i) EXPECT_EQ(x.out.data<float>()[i], 7);
}

TEST(PackedSequences, APredicateIsAskedWithTheNumberOfTheSequence) {
  TwoSequences x;
  std::mutex mutex;
  std::set<Index> asked;
  const Mask mask = Mask::predicate([&](Index b, Index, Index, Index) {
    const std::lock_guard lock(mutex);
    asked.insert(b);
    return b == 1;
  });
  attention(x.q, x.k, x.v, x.spec(mask), {.out = x.out}, x.workspace);
  EXPECT_EQ(asked, (std::set<Index>{0, 1}));
  EXPECT_EQ(x.out.at<float>({0, 0, 1, 0}), 0);
  EXPECT_NE(x.out.at<float>({0, 0, 2, 0}), 0);
}

}  // namespace
}  // namespace heed
