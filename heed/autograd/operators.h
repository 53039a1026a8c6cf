// The operators of heed/ops on Vars: each computes, and records its backward on the context's tape.
//
//   Var h = activate(context, Activation::relu, linear(context, x, weight, bias));
//
// Shapes are those of the operator of the same name; x may have any rank, and its leading axes count as rows.
#pragma once

#include <span>

#include "heed/autograd/affine_vars.h"
#include "heed/autograd/context.h"
#include "heed/autograd/var.h"
#include "heed/ops/activation.h"

namespace heed {

// x [..., In] W^T + b, W [Out, In], b [Out] or empty: [..., Out]. Where W is adapted (Var::adapted), x times
// scale (up down)^T is added, by way of rank features.
Var linear(const Context& context, const Var& x, const Var& weight, const Var& bias);
// The same for several maps of the same x, a map's outputs after those of the one before it: [..., Out of all].
Var linear(const Context& context, const Var& x, std::span<const AffineVars> maps);
Var activate(const Context& context, Activation activation, const Var& x);
// x[..., :D] f(x[..., D:]) of x [..., 2 D].
Var activate_gated(const Context& context, Activation activation, const Var& x);
// a + b and a b. b has a's shape, or is repeated along its axes of extent 1 and those that it lacks, aligned at the
// last (heed/ops/broadcast.h): a row [D] or [1, 1, D], a number for each sequence [B, 1, 1].
Var add(const Context& context, const Var& a, const Var& b);
Var multiply(const Context& context, const Var& a, const Var& b);
// s x.
Var scale(const Context& context, const Var& x, double s);
// Over the last axis (heed/ops/softmax.h).
Var softmax(const Context& context, const Var& x);
// The same elements in another shape.
Var reshape(const Context& context, const Var& x, std::initializer_list<Index> shape);
// Over the last axis; gamma and beta may be empty.
Var layer_norm(const Context& context, const Var& x, const Var& gamma, const Var& beta, double epsilon);
Var rms_norm(const Context& context, const Var& x, const Var& gamma, double epsilon);
// Elements [begin, end) along an axis. Throws heed::Error when out of range.
Var slice(const Context& context, const Var& x, int axis, Index begin, Index end);
// Rows of x [..., D] by number, counted over all its leading axes: rows i32 [N] to [N, D]. One may come several times.
// Position l of sequence b of x [B, L, D] is row b L + l. Throws heed::Error for a row that x lacks.
Var gather(const Context& context, const Var& x, const Tensor& rows);
// Rows of table [V, D] times scale: ids i32 [...] to [..., D] (ids of rank at most 3).
Var embedding(const Context& context, const Var& table, const Tensor& ids, double scale);
// x + table[position] for x [B, L, D] and positions first, first + 1, ...; table [max, D] is a constant or a parameter.
// Throws heed::Error for a position past the table.
Var add_positions(const Context& context, const Var& x, const Var& table, Index first);
// Zeroes elements with probability p and divides the rest by 1 - p, where the context has dropout; x itself otherwise.
Var dropout(const Context& context, const Var& x, double p);
// residual + dropout(x).
Var dropout_add(const Context& context, const Var& x, double p, const Var& residual);

// The parts one after the other along an axis, of one rank and equal but for that axis. -1: the last axis.
Var concatenate(const Context& context, std::span<const Var> parts, int axis = -1);
// x [B, L, D] with one more row at the end of each sequence: [B, L + 1, D]. row [1, 1, D], or empty for zeros.
Var append_row(const Context& context, const Var& x, const Var& row);
// [L, B, D] as [B, L, D], and back.
Var swap_leading(const Context& context, const Var& x);
// L tensors [B, D] as [B, L, D].
Var stack_time(const Context& context, std::span<const Var> steps);

}  // namespace heed
