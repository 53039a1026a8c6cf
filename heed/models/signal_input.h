// What the first layer of an encoder reads where its source is no text: TokenInput's sibling.
//
//   SignalInput input(scope, config);
//   Var x = input.forward(context, pixels);        // [B, 3, 224, 224] to [B, 197, width]
#pragma once

#include "heed/layers/linear.h"
#include "heed/layers/positions.h"
#include "heed/models/transformer_config.h"

namespace heed {

// A picture's parameters: "source_patches", a map of [width, channels * patch * patch] and its bias, which is the
// kernel of a convolution with a stride of the patch; "source_class" [1, 1, width], a token before the patches, and
// where it is distilled "source_distillation", another behind that (Touvron et al. 2021); "source_positions". A
// sound's: "source_conv1" and "source_conv2", maps of [width, 3 * inputs] of a frame, the one before it and the one
// behind it, frame after frame; "source_positions".
class SignalInput {
 public:
  SignalInput() = default;
  SignalInput(const ParameterScope& scope, const TransformerConfig& config);

  // A picture f32 [B, channels, height, width]: [class; E patch ...] + positions, patches row by row (Dosovitskiy et
  // al. 2021, equation 1). Sound f32 [B, frames, channels]: two convolutions over three frames, the second of which
  // moves by two, with gelu behind each, + positions (Radford et al. 2022, section 2.2). To [B, positions, width], with
  // dropout. Throws heed::Error for a signal of other extents.
  Var forward(const Context& context, const Tensor& signal) const;

 private:
  Var of_picture(const Context& context, const Tensor& pixels) const;
  Var of_sound(const Context& context, const Tensor& bands) const;

  SignalOptions options_;
  Linear patches_, first_, second_;
  Var class_token_, distillation_token_;
  Positions positions_;
  Index width_ = 0;
  double dropout_ = 0;
};

}  // namespace heed
