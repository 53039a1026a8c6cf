#include "heed/testing/attention_mask_choice.h"

#include <algorithm>

namespace heed::testing {
namespace {

class MaskMaker {
 public:
  MaskMaker(Choices& choices, const MaskShape& shape)
      : choices_(choices), shape_(shape), unit_(shape.keys > 60 ? choices.of({16, 1, 64}) : 1) {}

  Mask make() {
    Mask mask = window();
    if (choices_.one_in(3)) mask = mask & key_lengths();
    for (Index left = choices_.of({0, 0, 0, 1, 1, 2}); left > 0; --left) mask = pattern() & mask;
    mask.anchor = choices_.of({Anchor::end, Anchor::start, Anchor::length});
    if (mask.anchor == Anchor::length && !mask.lengths) mask.anchor = Anchor::start;
    return mask;
  }

  Mask window() {
    const auto bound = [&](Index most) {
      return choices_.one_in(2) ? std::optional<Index>{choices_.below(most) * unit_} : std::nullopt;
    };
    switch (choices_.below(8)) {
      case 1:
      case 2:
        return Mask::causal();
      case 3:
        return Mask::sliding_window(bound(20), bound(6));
      case 4:
        return Mask::sliding_window(bound(20), 0) & Mask::causal();
      case 5:
        return Mask::around(centres(), choices_.below(6));
      case 6:
        return Mask::prefix_lm(integers({shape_.batch}, shape_.keys + 2));
      case 7: {
        Mask gap = Mask::prefix_lm(integers({shape_.batch}, shape_.keys / 2 + 1));
        gap.window->left = choices_.below(5);
        return gap;
      }
      default:
        return {};
    }
  }

  Mask key_lengths() { return Mask::key_lengths(integers({shape_.batch}, shape_.keys + 1)); }

 private:
  Index axis(Index extent) { return choices_.one_in(2) ? extent : 1; }

  // Of either integer type, each below `bound`; the fall over a row is rare, as of segments.
  Tensor integers(std::initializer_list<Index> shape, Index bound) {
    const bool wide = choices_.one_in(2);
    Tensor tensor = Tensor::zeros(wide ? DType::i64 : DType::i32, shape);
    Rng rng(choices_.seed());
    for (Index i = 0; i < tensor.size(); ++i) {
      const Index value = rng.below(std::max<Index>(bound, 1));
      if (wide) tensor.data<std::int64_t>()[i] = value;
      if (!wide) tensor.data<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    }
    return tensor;
  }
  // Stretches of one value, so that whole tiles are open or shut.
  Tensor booleans(std::initializer_list<Index> shape) {
    Tensor tensor = Tensor::zeros(DType::boolean, shape);
    Rng rng(choices_.seed());
    const Index stretch = choices_.of({2, 1, 30});
    std::uint8_t value = 1;
    for (Index i = 0; i < tensor.size(); ++i) {
      if (rng.below(stretch) == 0) value = static_cast<std::uint8_t>(rng.below(4) != 0);
      tensor.data<std::uint8_t>()[i] = value;
    }
    return tensor;
  }
  // Near the keys, as whole or as real numbers.
  Tensor centres() {
    const Index batch = axis(shape_.batch), heads = axis(shape_.heads);
    if (choices_.one_in(2)) return integers({batch, heads, shape_.queries}, shape_.keys + 3);
    Tensor tensor = Tensor::zeros(choices_.of({DType::f32, DType::f64}), {batch, heads, shape_.queries});
    Rng rng(choices_.seed());
    for (Index i = 0; i < tensor.size(); ++i) {
      const double at = rng.uniform() * static_cast<double>(shape_.keys + 2) - 1;
      if (tensor.dtype() == DType::f64) tensor.data<double>()[i] = at;
      if (tensor.dtype() == DType::f32) tensor.data<float>()[i] = static_cast<float>(at);
    }
    return tensor;
  }

  Mask pattern() {
    const Index block = (1 + choices_.below(6)) * unit_;
    switch (choices_.below(8)) {
      case 1: {
        const Index segments = choices_.of({1, 2, 4});
        const Tensor queries = integers({axis(shape_.batch), shape_.queries}, segments);
        return Mask::segments(queries, integers({axis(shape_.batch), shape_.keys}, segments));
      }
      case 2:
        return Mask::strided({.stride = block});
      case 3:
        return Mask::fixed({.block = block, .summary = choices_.below(block + 1)});
      case 4:
        return Mask::longformer({.radius = block, .global = choices_.below(4), .dilation = 1 + choices_.below(3)});
      case 5:
        return Mask::bigbird({.block = block,
                              .window = choices_.of({1, 3}),
                              .global = choices_.below(2),
                              .random = choices_.below(3),
                              .positions = std::max<Index>(shape_.keys, 1),
                              .seed = choices_.seed()});
      case 6: {
        const Index rows = 1 + choices_.below(9), keys = block;
        return Mask::tiles(booleans({axis(shape_.heads), ceil_div(shape_.queries, rows), ceil_div(shape_.keys, keys)}),
                           rows, keys);
      }
      case 7: {
        const Index shift = choices_.below(5);
        return Mask::predicate(
            [shift](Index b, Index h, Index i, Index j) { return (7 * i + 3 * j + b + 2 * h + shift) % 5 != 0; });
      }
      default:
        return Mask::boolean(
            booleans({axis(shape_.batch), axis(shape_.heads), axis(shape_.queries), axis(shape_.keys)}));
    }
  }

  Choices& choices_;
  const MaskShape shape_;
  const Index unit_;  // by which patterns are enlarged, so that whole tiles of long problems are open or shut
};

}  // namespace

Mask choose_mask(Choices& choices, const MaskShape& shape) { return MaskMaker(choices, shape).make(); }

void meet_another_mask(Choices& choices, const MaskShape& shape, bool lengths_alone, Mask& mask) {
  MaskMaker maker(choices, shape);
  Mask other = lengths_alone ? Mask{} : maker.window();
  other.anchor = mask.anchor;
  if (lengths_alone || choices.one_in(2)) other = other & maker.key_lengths();
  if (mask.anchor == Anchor::length && other.has_positions()) other.lengths = {};  // both count from those of the mask
  mask = mask & other;
}

}  // namespace heed::testing
