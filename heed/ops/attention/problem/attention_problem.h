// One attention problem, checked and in the form that the plans read.
#pragma once

#include <limits>

#include "heed/ops/attention/problem/bias_rows.h"
#include "heed/ops/attention/problem/dropout_mask.h"
#include "heed/ops/attention/problem/row_source.h"
#include "heed/ops/attention/spec/mask.h"
#include "heed/ops/attention/spec/spec.h"
#include "heed/tensor/numbers.h"
#include "heed/tensor/view.h"

namespace heed {

// The score of a key that a row may not see.
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Everything has been checked when a plan sees it: ranks, extents, types, and a unit stride along the last axis of
// q, k, v and of every result. Packed sequences have become one case each.
struct AttentionProblem {
  ConstView q{};       // [B, H, Lq, D]
  RowSource k{}, v{};  // [B, Hk, Lk, D] and [B, Hk, Lk, Dv]; v is empty where only weights are wanted
  AttentionSpec spec{};
  MaskRows mask{};
  BiasRows bias{};
  DropoutMask dropout{};
  double scale = 1;                                      // of the score
  double feature_scale = 1;                              // inside random features
  double cap = 0;                                        // of a score; 0: none
  Index batch = 0, heads = 0, key_heads = 0, group = 1;  // group = heads / key_heads: query heads to a key/value head
  Index queries = 0, keys = 0, width = 0, value_width = 0;
  Index features = 0;         // what the score multiplies: D, or the random features' M
  DType dtype = DType::f32;   // of q, out, weights, scores
  DType number = DType::f32;  // of row_stat and of the learned parameters: f32, or f64 where q is f64

  // The logit of head h's sink, -inf for none.
  template <typename Sum>
  Sum sink(Index h) const {
    const ConstView& sinks = spec.normaliser.sinks.view();
    return sinks ? number_at<Sum>(sinks, {h}) : -std::numeric_limits<Sum>::infinity();
  }
};

// Checks a problem of well-formed views (check_call). Throws heed::Error naming `caller`, the rule and the shapes. v
// may be empty. `first_batch` is where batch element 0 stands for dropout.
AttentionProblem make_attention_problem(const char* caller, const ConstView& q, const ConstView& k, const ConstView& v,
                                        const AttentionSpec& spec, Index first_batch = 0);

}  // namespace heed
