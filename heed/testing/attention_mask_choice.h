// A random mask: part of random_attention_sample, and of the mask's own tests.
#pragma once

#include "heed/ops/attention/spec/mask.h"
#include "heed/testing/choices.h"

namespace heed::testing {

// Chooses an anchor, a window of any kind, key lengths and up to two patterns that fit the shape.
Mask choose_mask(Choices& choices, const MaskShape& shape);

// Intersects the mask with a second one of windows and key lengths: with `lengths_alone`, of key lengths.
void meet_another_mask(Choices& choices, const MaskShape& shape, bool lengths_alone, Mask& mask);

}  // namespace heed::testing
