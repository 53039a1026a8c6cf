// A random mask: part of random_attention_sample, and of the mask's own tests.
#pragma once

#include <vector>

#include "heed/ops/attention/spec/mask.h"
#include "heed/tensor/tensor.h"
#include "heed/testing/choices.h"

namespace heed::testing {

// Chooses an anchor, a window of any kind, key lengths and up to two patterns that fit the shape; `tensors` keeps what
// the mask's views lie in.
void choose_mask(Choices& choices, const MaskShape& shape, Mask& mask, std::vector<Tensor>& tensors);

// Intersects the mask with a second one of windows and key lengths: with `lengths_alone`, of key lengths.
void meet_another_mask(Choices& choices, const MaskShape& shape, bool lengths_alone, Mask& mask,
                       std::vector<Tensor>& tensors);

}  // namespace heed::testing
