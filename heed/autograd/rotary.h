// Rotary positions on Vars.
//
//   Var turned = rotary(context, {qkv, 0, heads + key_heads, width}, tables, {}, cached, options.pairing);
//   attention(context, {turned, 0, heads, width}, {turned, heads * width, key_heads, width}, ...);
#pragma once

#include "heed/autograd/attention.h"
#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/ops/rotary/rotary.h"

namespace heed {

// Returns x.source [B, L, *] with the heads that x names turned by their positions (heed/ops/attention/rotary.h) and
// all other features copied: the queries and keys of a packed projection, which lie side by side, are one call and one
// gradient. positions: i32 or i64 [B|1, L], or empty for 0, 1, ...; offset is added. The tables are constants, and may
// hold gathered angles, [B|1, L, R / 2]. Throws heed::Error for a position past the tables.
Var rotary(const Context& context, const Heads& x, const RotaryTables& tables, const Tensor& positions, Index offset,
           RotaryPairing pairing);

}  // namespace heed
