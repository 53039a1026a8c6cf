// RotaryEmbedding and TensorScatter.
#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/ops/attention/tensor_scatter.h"
#include "heed/ops/rotary/rotary.h"
#include "operators.h"

namespace heed::conformance {

// X [B, H, L, D] or [B, L, H * D], cosines and sines, and the positions that choose among their rows.
Outputs rotary_embedding(const Case& c) {
  c.allow_attributes({"interleaved", "num_heads", "rotary_embedding_dim"});
  const Array& x = c.input(0);
  const Tensor tensor = as_tensor(x, c.input_name(0)), y = Tensor::empty_like(tensor.view());
  const bool packed = tensor.rank() == 3;
  const Index heads = packed ? c.integer("num_heads", 0, 1) : 1;
  const auto by_heads = [&](const Tensor& t) { return packed ? split_heads(t.view(), heads) : t.view(); };
  const Tensor cos = as_tensor(c.input(1), c.input_name(1)), sin = as_tensor(c.input(2), c.input_name(2));
  const Tensor positions = c.has(3) ? as_tensor(c.input(3), c.input_name(3)) : Tensor();
  const View rows = by_heads(tensor);
  HEED_CHECK(cos.rank() >= 1 && rows.rank == 4, "RotaryEmbedding: X and cos_cache have the shapes {} and {}",
             text_of(x.shape), text_of(c.input(1).shape));
  const Index stated = c.integer("rotary_embedding_dim", 0, 0), turned = stated == 0 ? rows.shape[3] : stated;
  HEED_CHECK(2 * cos.dim(cos.rank() - 1) == turned, "{} features turn, but cos_cache has the shape {}", turned,
             text_of(c.input(1).shape));
  rotary(rows, {.cos = cos, .sin = sin, .positions = positions},
         c.integer("interleaved", 0) != 0 ? RotaryPairing::interleaved : RotaryPairing::halves, by_heads(y));
  return {with_shape(y, x.shape)};
}

// The cache [B, ..., M, ...] and the update [B, ..., S, ...] as [B, before, M or S, after].
Outputs run_tensor_scatter(const Case& c) {
  c.allow_attributes({"axis", "mode"});
  const Array &cache = c.input(0), &update = c.input(1);
  const std::string mode = c.string("mode", "linear");
  HEED_CHECK(mode == "linear" || mode == "circular", "mode must be linear or circular, but is {}", printable(mode));
  const auto axis = static_cast<std::size_t>(axis_of(c.integer("axis", -2), cache.shape));
  HEED_CHECK(axis > 0, "axis must not be the batch's, but is {}", axis);
  Extents like = update.shape;
  if (axis < like.size()) like[axis] = cache.shape[axis];
  HEED_CHECK(like == cache.shape, "the update {} and the cache {} must agree but for axis {}", text_of(update.shape),
             text_of(cache.shape), axis);
  const auto folded = [&](const Tensor& elements, const Extents& shape) {
    const std::span<const Index> s(shape);
    return elements.reshape({s[0], count_of(s.subspan(1, axis - 1)), s[axis], count_of(s.subspan(axis + 1))});
  };
  const Tensor present = cache.elements.clone();
  tensor_scatter(folded(update.elements, update.shape), c.has(2) ? c.input(2).elements : Tensor(),
                 folded(present, cache.shape), 2, mode == "linear" ? ScatterMode::linear : ScatterMode::circular);
  return {{cache.shape, present}};
}

}  // namespace heed::conformance
