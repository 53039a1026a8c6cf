// Attention and what stands beside it: all that heed::attention has.
//
//   #include "heed/attention.h"
//
//   heed::attention(q, k, v, {.mask = heed::Mask::causal()}, {.out = out}, workspace);
//
// docs/attention.md shows every score, bias, mask and normaliser in a line of code each. What the field calls it:
//   log-sum-exp, LSE                   AttentionResult::row_stat
//   causal, bottom-right or top-left   Mask::causal(), Mask::causal(Anchor::start)
//   key padding                        Mask::key_lengths()
//   GQA, MQA                           k and v with fewer heads than q
//   KV cache                           tensor_scatter(), PagedCache
//   soft-cap                           Bias::soft_cap
//   attention sinks                    Normaliser::softmax(sinks)
//   RoPE                               rotary()
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
#include "heed/tensor/quantise_rows.h"
#include "heed/tensor/tensor.h"
