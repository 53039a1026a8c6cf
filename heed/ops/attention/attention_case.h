// One attention problem, checked and in the form that the plans read.
#pragma once

#include "heed/ops/attention/dropout_mask.h"
#include "heed/ops/attention/mask.h"
#include "heed/ops/attention/spec.h"
#include "heed/tensor/view.h"

namespace heed {

// Everything has been checked when a plan sees it: ranks, extents, types, and a unit stride along the last axis of
// every view. A bias extent of 1 that stands for all has stride 0, so bias.offset({b, h, i, j}) is right for every
// index.
struct AttentionCase {
  ConstView q{}, k{}, v{};  // [B, H, Lq, D], [B, Hk, Lk, D], [B, Hk, Lk, Dv]; v is empty where only weights are wanted
  AttentionSpec spec{};
  MaskRows mask{};
  DropoutMask dropout{};
  ConstView bias{};                                      // spec.bias.dense with its broadcast strides, or empty
  double scale = 1;                                      // of a dot score
  double cap = 0;                                        // of a score; 0: none
  Index batch = 0, heads = 0, key_heads = 0, group = 1;  // group = heads / key_heads: query heads to a key/value head
  Index queries = 0, keys = 0, width = 0, value_width = 0;
  DType dtype = DType::f32;
};

// Checks a problem. Throws heed::Error naming `caller`, the rule and the shapes. v may be empty.
AttentionCase make_attention_case(const char* caller, const ConstView& q, const ConstView& k, const ConstView& v,
                                  const AttentionSpec& spec);

}  // namespace heed
