// A model with rounded weights, twice: as heed rounds, keeps and multiplies them, and by what rounding means.
//
//   const PretrainedModel narrow = with_weights(opened, Precision::int8);
//   const PretrainedModel twin = plainly_rounded(opened, Precision::int8);    // in f32: answers as `narrow` must
#pragma once

#include "heed/pretrained/pretrained_model.h"
#include "heed/tasks/convert.h"

namespace heed::conformance {

PretrainedModel with_weights(const PretrainedModel& opened, Precision type);

// Weights (ParameterShape::is_weight) in f32, each the nearest number (of two as near the even one) that bf16 has, or,
// with int8, the nearest multiple of a 127th of its row's largest. What the file has in the type stays as it is.
// Throws heed::Error for another type.
PretrainedModel plainly_rounded(const PretrainedModel& opened, Precision type);

}  // namespace heed::conformance
