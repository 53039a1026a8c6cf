// A picture as the numbers that a model was trained to see: resized, scaled and normalised as preprocessor_config.json
// beside the model says.
//
//   const PixelOptions options = read_pixel_options("vit");
//   Var hidden = model.encode(context, {.signal = pixel_values(read_image("cat.jpg"), options, config.signal)});
#pragma once

#include <array>
#include <filesystem>
#include <optional>

#include "heed/image/image.h"
#include "heed/image/resize.h"
#include "heed/models/signal_options.h"
#include "heed/tensor/tensor.h"

namespace heed {

// By default those of ViT.
struct PixelOptions {
  std::optional<std::array<Index, 2>> size;  // height and width; none: the model's
  Index shorter_side = 0;                    // in the place of both, whose ratio stays; 0: as `size` says
  bool resizes = true;
  std::optional<std::array<Index, 2>> crop;  // height and width of the centre, which is all that is kept
  Resampling resampling = Resampling::bilinear;
  double scale = 1.0 / 255;
  std::array<double, 3> mean{0.5, 0.5, 0.5}, deviation{0.5, 0.5, 0.5};
};

// The folder's preprocessor_config.json: do_resize, size (an extent, height and width, or shortest_edge), resample (0
// to 5), do_center_crop, crop_size, do_rescale, rescale_factor, do_normalize, image_mean, image_std; the defaults
// without such a file. Throws heed::Error that names the place for what has no meaning, and for other resampling.
PixelOptions read_pixel_options(const std::filesystem::path& folder);

// Writes the file that read_pixel_options reads.
void save_pixel_options(const std::filesystem::path& folder, const PixelOptions& options);

// f32 [1, 3, height, width]: (scale * pixel - mean) / deviation of each colour; what is cut of a smaller picture is
// black around it. Throws heed::Error where that is not what `signal` says that the model reads.
Tensor pixel_values(const Image& image, const PixelOptions& options, const SignalOptions& signal);

}  // namespace heed
