// The operators of heed/ops on Vars: each computes, and records its backward on the context's tape.
//
//   Var h = activate(context, Activation::relu, linear(context, x, weight, bias));
//
// Shapes are those of the operator of the same name; x may have any rank, and its leading axes count as rows.
#pragma once

#include <span>

#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/ops/activation.h"

namespace heed {

// x [..., In] W^T + b, W [Out, In], b [Out] or empty: [..., Out].
Var linear(const Context& context, const Var& x, const Var& weight, const Var& bias);
Var activate(const Context& context, Activation activation, const Var& x);
// a + b, the same shape.
Var add(const Context& context, const Var& a, const Var& b);
// The same elements in another shape.
Var reshape(const Context& context, const Var& x, std::initializer_list<Index> shape);
// gamma and beta may be empty.
Var layer_norm(const Context& context, const Var& x, const Var& gamma, const Var& beta, double epsilon);
// Rows of table [V, D] times scale: ids i32 [...] to [..., D] (ids of rank at most 3).
Var embedding(const Context& context, const Var& table, const Tensor& ids, double scale);
// x + table[position] for x [B, L, D] and positions first, first + 1, ...; table [max, D] is a constant or a parameter.
// Throws heed::Error for a position past the table.
Var add_positions(const Context& context, const Var& x, const Var& table, Index first);
// Zeroes elements with probability p and divides the rest by 1 - p, where the context has dropout; x itself otherwise.
Var dropout(const Context& context, const Var& x, double p);
// residual + dropout(x).
Var dropout_add(const Context& context, const Var& x, double p, const Var& residual);

// [R, D1], [R, D2], ... side by side: [R, D1 + D2 + ...]. All of one rank (2 or 3), equal but for the last axis.
Var concatenate(const Context& context, std::span<const Var> parts);
// x [B, L, D] with one more row at the end of each sequence: [B, L + 1, D]. row [1, 1, D], or empty for zeros.
Var append_row(const Context& context, const Var& x, const Var& row);
// [L, B, D] as [B, L, D], and back.
Var swap_leading(const Context& context, const Var& x);
// L tensors [B, D] as [B, L, D].
Var stack_time(const Context& context, std::span<const Var> steps);

}  // namespace heed
