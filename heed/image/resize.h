// A picture of another size, pixel for pixel as the Python Imaging Library makes it, which models were trained with.
//
//   const Image small = resized(image, 224, 224, Resampling::bicubic);
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "heed/image/image.h"

namespace heed {

// Each new pixel is a weighted mean of old ones, by a filter that is stretched where the picture shrinks, so that what
// is too fine does not become something else; or the old one in its place.
enum class Resampling {
  nearest,   // the old pixel that the new one's middle is in
  box,       // every pixel alike
  bilinear,  // a triangle
  hamming,   // sinc, windowed by a raised cosine, of one lobe a side
  bicubic,   // Keys 1981, with a = -0.5
  lanczos,   // sinc, windowed by a sinc, of three lobes a side
};
inline constexpr std::pair<std::string_view, Resampling> kResamplingNames[] = {
    {"nearest", Resampling::nearest}, {"box", Resampling::box},         {"bilinear", Resampling::bilinear},
    {"hamming", Resampling::hamming}, {"bicubic", Resampling::bicubic}, {"lanczos", Resampling::lanczos}};
inline std::span<const std::pair<std::string_view, Resampling>> enum_names(Resampling) { return kResamplingNames; }

// Of means columns come first, then rows, each rounded to 8 bits, with weights of 22 bits behind the point. A picture
// that has the size already is as it was. Costs height * (width + new width) times the filter's length in old pixels.
// Throws heed::Error for extents that are not in [1, kMostImagePixels] or that make more pixels than that.
Image resized(const Image& image, Index height, Index width, Resampling resampling);

}  // namespace heed
