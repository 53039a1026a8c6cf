#include "heed/autograd/dropout_calls.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/autograd/operators.h"
#include "heed/testing/gradient_check.h"

namespace heed {
namespace {

std::uint64_t stream_of(const DropoutPlace& place, int call) {
  DropoutCalls calls(place);
  for (int earlier = 0; earlier < call; ++earlier) calls.next();
  return calls.next().stream;
}

TEST(DropoutCalls, EveryPlaceHasAStreamOfItsOwn) {
  std::set<std::uint64_t> streams;
  for (const std::uint64_t seed : {1, 2}) {
    for (const Index update : {0, 1, 2, 1 << 20}) {
      for (const Index micro_batch : {0, 1, 7}) {
        for (const int call : {0, 1, 50}) streams.insert(stream_of({seed, update, micro_batch}, call));
      }
    }
  }
  EXPECT_EQ(streams.size(), 2u * 4 * 3 * 3);
}

TEST(DropoutCalls, AStreamIsAFunctionOfItsPlaceAlone) {
  DropoutCalls other({.seed = 9, .update = 3});
  other.next();
  EXPECT_EQ(stream_of({1, 5, 2}, 3), stream_of({1, 5, 2}, 3));
}

TEST(DropoutCalls, AForwardPassOfTheSamePlaceDropsTheSameElements) {
  Workspace workspace;
  const Var x(testing::random_tensor(DType::f32, {64, 8}, 1));
  const auto forward = [&](const DropoutPlace& place) {
    DropoutCalls dropout(place);
    const Context context{.workspace = workspace, .dropout = &dropout};
    return heed::dropout(context, heed::dropout(context, x, 0.3), 0.3);
  };
  EXPECT_TRUE(testing::same_bits(forward({1, 2, 3}), forward({1, 2, 3})));
  EXPECT_FALSE(testing::same_bits(forward({1, 2, 3}), forward({1, 3, 3})));
  EXPECT_FALSE(testing::same_bits(forward({1, 2, 3}), forward({1, 2, 4})));
}

TEST(DropoutCalls, InferenceDropsNothing) {
  Workspace workspace;
  const Var x(testing::random_tensor(DType::f32, {64, 8}, 1));
  EXPECT_EQ(dropout(Context::inference(workspace), x, 0.9), x);
}

}  // namespace
}  // namespace heed
