#include "heed/layers/attention_arguments.h"

#include <algorithm>
#include <vector>

#include "heed/base/check.h"
#include "heed/tensor/row_storage.h"

namespace heed {
namespace {

void check_mask(const char* name, const Tensor& mask, bool fits, const MaskShape& shape) {
  HEED_CHECK(
      fits && (mask.dtype() == DType::boolean || is_floating(mask.dtype())),
      "MultiheadAttention: {} must be boolean or floating and fit B = {}, heads = {}, Lq = {}, Lk = {}, but is {}",
      name, shape.batch, shape.heads, shape.queries, shape.keys, describe(mask.view()));
}

// The masks that were given, as [B|1, H|1, Lq|1, Lk].
std::vector<Tensor> given_masks(const AttentionArguments& arguments, const MaskShape& shape) {
  std::vector<Tensor> masks;
  if (const Tensor& padding = arguments.key_padding_mask; !padding.is_empty()) {
    const bool fits = padding.rank() == 2 && padding.dim(0) == shape.batch && padding.dim(1) == shape.keys;
    check_mask("key_padding_mask [B, Lk]", padding, fits, shape);
    masks.push_back(padding.reshape({shape.batch, 1, 1, shape.keys}));
  }
  if (const Tensor& mask = arguments.attn_mask; !mask.is_empty()) {
    const int rank = mask.rank();
    const bool fits = (rank == 2 || (rank == 3 && mask.dim(0) == shape.batch * shape.heads)) &&
                      mask.dim(rank - 2) == shape.queries && mask.dim(rank - 1) == shape.keys;
    check_mask("attn_mask [Lq, Lk] or [B * heads, Lq, Lk]", mask, fits, shape);
    masks.push_back(rank == 2 ? mask.reshape({1, 1, shape.queries, shape.keys})
                              : mask.reshape({shape.batch, shape.heads, shape.queries, shape.keys}));
  }
  return masks;
}

// true where left_out is false.
Tensor inverted(const Tensor& left_out) {
  const Tensor allowed = Tensor::empty_like(left_out.view());
  const std::uint8_t* from = left_out.data<std::uint8_t>();
  std::transform(from, from + left_out.size(), allowed.data<std::uint8_t>(), [](std::uint8_t x) { return x == 0; });
  return allowed;
}

// to += from, where an extent of 1 is broadcast; the columns past from's are left.
template <typename T>
void add_broadcast(const Tensor& from, const Tensor& to) {
  View source = from.view();
  for (int axis = 0; axis < 3; ++axis) {
    if (source.shape[axis] == 1) source.stride[axis] = 0;
  }
  for (Index b = 0; b < to.dim(0); ++b)
    for (Index h = 0; h < to.dim(1); ++h)
      for (Index i = 0; i < to.dim(2); ++i)
        for (Index j = 0; j < from.dim(3); ++j) to.at<T>({b, h, i, j}) += source.at<T>({b, h, i, j});
}

// The sum of the masks, with zeros for the extra keys.
Tensor sum_of(const std::vector<Tensor>& masks, Index extra, DType dtype) {
  Shape extent{1, 1, 1, 1};
  for (const Tensor& mask : masks) {
    for (int axis = 0; axis < 4; ++axis) extent[axis] = std::max(extent[axis], mask.dim(axis));
  }
  const Tensor sum = Tensor::zeros(dtype, {extent[0], extent[1], extent[2], extent[3] + extra});
  for (const Tensor& mask : masks) {
    dtype == DType::f64 ? add_broadcast<double>(mask.to(dtype), sum) : add_broadcast<float>(mask.to(dtype), sum);
  }
  return sum;
}

}  // namespace

CallMask call_mask(const AttentionArguments& arguments, const Mask& of_layer, const MaskShape& shape, Index extra,
                   DType dtype) {
  CallMask call{of_layer & arguments.mask, {}};
  if (arguments.is_causal) {
    // Where there are as many queries as keys both anchors are one; else a mask that counts from elsewhere stays as it
    // is.
    const bool square = shape.queries == shape.keys && call.mask.anchor == Anchor::end;
    const bool elsewhere = !square && call.mask.has_positions() && call.mask.anchor != Anchor::start;
    call.mask = call.mask & (elsewhere ? Mask::predicate([](Index, Index, Index i, Index j) { return j <= i; })
                                       : Mask::causal(square ? Anchor::end : Anchor::start));
  }
  std::vector<Tensor> added;
  for (const Tensor& mask : given_masks(arguments, shape)) {
    if (mask.dtype() != DType::boolean) {
      added.push_back(mask);
      continue;
    }
    call.mask = call.mask & Mask::boolean(inverted(mask));
  }
  if (!added.empty()) call.bias = sum_of(added, extra, dtype == DType::f64 ? DType::f64 : DType::f32);
  if (!call.mask.is_open() && extra > 0) {
    // Laid over the keys that were given, so that the extra ones move no query's position.
    call.mask =
        Mask::predicate([rows = MaskRows(call.mask, shape, "MultiheadAttention"), keys = shape.keys](
                            Index b, Index h, Index i, Index j) { return j >= keys || rows.allows(b, h, i, j); });
  }
  return call;
}

}  // namespace heed
