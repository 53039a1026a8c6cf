// Attention and what stands beside it: all that heed::attention has.
//
//   #include "heed/attention.h"
//
//   heed::attention(q, k, v, {.mask = heed::Mask::causal()}, {.out = out}, workspace);
//
// docs/attention.md shows every score, bias, mask and normaliser in a line of code each.
#pragma once

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/workspace.h"
#include "heed/kernels/target.h"
#include "heed/ops/attention/attention.h"
#include "heed/ops/attention/double_backward.h"
#include "heed/ops/attention/linear_step.h"
#include "heed/ops/attention/merge.h"
#include "heed/ops/attention/paged_cache.h"
#include "heed/ops/attention/spec/spec.h"
#include "heed/ops/attention/tensor_scatter.h"
#include "heed/ops/gated_delta/gated_delta_rule.h"
#include "heed/ops/rotary/rotary.h"
#include "heed/tensor/tensor.h"
