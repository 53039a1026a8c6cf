#include "heed/models/signal_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"
#include "heed/ops/weight.h"

namespace heed {
namespace {

constexpr Index kTaps = 3;

// [B, C, H, W] as [B, patches, C P P], patches row by row, each as the kernel of a convolution lies. What they leave at
// the right and below, where they do not divide the picture, is not read.
Tensor unfold_patches(const Tensor& pixels, Index patch) {
  const Index batch = pixels.dim(0), channels = pixels.dim(1), height = pixels.dim(2), width = pixels.dim(3);
  const Index down = height / patch, across = width / patch;
  const Tensor patches = Tensor::empty(DType::f32, {batch, down * across, channels * patch * patch});
  const float* from = pixels.data<float>();
  float* to = patches.data<float>();
  for (Index b = 0; b < batch; ++b) {
    for (Index row = 0; row < down; ++row) {
      for (Index column = 0; column < across; ++column) {
        for (Index line = 0; line < channels * patch; ++line) {
          const Index channel = b * channels + line / patch, y = row * patch + line % patch;
          const float* pixel = from + (channel * height + y) * width + column * patch;
          to = std::copy(pixel, pixel + patch, to);
        }
      }
    }
  }
  return patches;
}

// A convolution over three frames of x [B, T, D], zeros before the first and behind the last, as a linear map of them
// side by side.
Var convolve(const Context& context, const Linear& kernel, const Var& x, Index stride) {
  const Index batch = x.dim(0), frames = x.dim(1), width = x.dim(2);
  const Index moved = (frames - 1) / stride + 1;
  std::vector<std::int32_t> rows;
  for (Index b = 0; b < batch; ++b) {
    const Index first = b * (frames + 1), zeros = first + frames;
    for (Index t = 0; t < moved; ++t) {
      for (Index tap = 0; tap < kTaps; ++tap) {
        const Index frame = t * stride + tap - 1;
        rows.push_back(static_cast<std::int32_t>(frame < 0 || frame >= frames ? zeros : first + frame));
      }
    }
  }
  const Var padded = append_row(context, x, {});
  const Var taps = gather(context, padded, Tensor::from(rows, {std::ssize(rows)}));
  const Var y = kernel.forward(context, reshape(context, taps, {batch, moved, kTaps * width}));
  return activate(context, Activation::gelu, y);
}

// A gradient check runs in f64.
Var in_type_of(const Linear& map, const Tensor& signal) {
  const DType type = Weight(map.weight()).wide();
  return Var(signal.dtype() == type ? signal : signal.to(type));
}

void check_extents(const Tensor& signal, std::initializer_list<Index> wanted, std::string_view what) {
  bool fits = signal.rank() == static_cast<int>(wanted.size()) + 1 && signal.dtype() == DType::f32;
  int axis = 1;
  for (Index extent : wanted) fits = fits && signal.dim(axis++) == extent;
  std::string shape;
  for (Index extent : wanted) shape += fmt::format(", {}", extent);
  HEED_CHECK(fits, "Transformer: {} is {}, but the model reads f32 [batch{}]", what, describe(signal.view()), shape);
}

}  // namespace

void SignalOptions::check() const {
  if (kind == SignalKind::none) return;
  HEED_CHECK(channels >= 1, "Transformer: signal: channels must be at least 1");
  if (kind == SignalKind::sound) {
    HEED_CHECK(frames >= 1, "Transformer: signal: frames must be at least 1");
    return;
  }
  HEED_CHECK(patch >= 1 && height >= patch && width >= patch,
             "Transformer: signal: a picture of {} rows and {} columns has no whole patch of {}", height, width, patch);
}

SignalInput::SignalInput(const ParameterScope& scope, const TransformerConfig& config)
    : options_(config.signal), width_(config.width), dropout_(config.dropout) {
  if (options_.kind == SignalKind::picture) {
    patches_ = Linear(scope / "source_patches", options_.channels * options_.patch * options_.patch, width_);
    class_token_ = scope.tensor("source_class", {1, 1, width_}, Initial::normal(0.02));
    if (options_.distilled) {
      distillation_token_ = scope.tensor("source_distillation", {1, 1, width_}, Initial::normal(0.02));
    }
  } else {
    first_ = Linear(scope / "source_conv1", kTaps * options_.channels, width_);
    second_ = Linear(scope / "source_conv2", kTaps * width_, width_);
  }
  positions_ = Positions::learned(scope / "source_positions", options_.positions(), width_);
}

Var SignalInput::of_picture(const Context& context, const Tensor& pixels) const {
  check_extents(pixels, {options_.channels, options_.height, options_.width}, "a picture");
  const Var patches = patches_.forward(context, in_type_of(patches_, unfold_patches(pixels, options_.patch)));
  const Tensor first = Tensor::zeros(DType::i32, {pixels.dim(0)});
  std::vector<Var> parts;
  const auto add = [&](const Var& token) {
    parts.push_back(reshape(context, gather(context, token, first), {pixels.dim(0), 1, width_}));
  };
  add(class_token_);
  if (options_.distilled) add(distillation_token_);
  parts.push_back(patches);
  return concatenate(context, parts, 1);
}

Var SignalInput::of_sound(const Context& context, const Tensor& bands) const {
  check_extents(bands, {options_.frames, options_.channels}, "sound");
  return convolve(context, second_, convolve(context, first_, in_type_of(first_, bands), 1), 2);
}

Var SignalInput::forward(const Context& context, const Tensor& signal) const {
  const Var x = options_.kind == SignalKind::picture ? of_picture(context, signal) : of_sound(context, signal);
  const Var placed = positions_.forward(context, x);
  show_embeddings(context.observer, EmbeddedSide::source, x.value().view(), placed.value().view());
  return dropout(context, placed, dropout_);
}

}  // namespace heed
