// One small attention problem for each score and each normaliser: what a test of a property runs over.
//
//   for (AttentionSample& p : attention_kinds({.queries = 3, .keys = 5})) {
//     p.spec.mask = Mask::causal();
//     for (const AttentionPlan* plan : plans_for(p)) EXPECT_EQ(..., solve(*plan, p).out) << describe(p);
//   }
#pragma once

#include <vector>

#include "heed/testing/attention_sample.h"

namespace heed::testing {

struct AttentionShape {
  Index batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1, width = 8, value_width = 8;
};

// A scaled dot product with a softmax and nothing else, of normal numbers.
AttentionSample plain_problem(const AttentionShape& shape, DType dtype = DType::f32);

// Every score with a softmax, every other normaliser, and sinks.
std::vector<AttentionSample> attention_kinds(const AttentionShape& shape, DType dtype = DType::f32);

// Whether an allowed key's weight is above zero whatever its score, and whether a row's weights sum to one.
bool has_positive_weights(const AttentionSample& problem);
bool has_weights_that_sum_to_one(const AttentionSample& problem);

// Booleans of which a third are false.
Tensor random_booleans(std::initializer_list<Index> shape, std::uint64_t seed);

}  // namespace heed::testing
