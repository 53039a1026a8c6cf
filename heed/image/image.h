// Pictures as models see them: three numbers a pixel, read from PNG and JPEG files.
//
//   const Image image = read_image("cat.jpg");
//   const Image small = resized(image, 224, 224, Resampling::bilinear);
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

inline constexpr Index kMostImagePixels = 1 << 26;  // of a picture that is read: 192 MB

struct Image {
  Index height = 0, width = 0;
  std::vector<std::uint8_t> pixels{};  // [height, width, 3], red, green and blue

  const std::uint8_t* at(Index y, Index x) const { return pixels.data() + (y * width + x) * 3; }
  friend bool operator==(const Image&, const Image&) = default;
};

// Reads a file, which its first bytes tell to be a PNG or a JPEG. Grey becomes equal parts of the colours, a palette
// its colours, 16 bits their upper 8; a JPEG is turned as its note of how the camera was held says (Exif);
// transparency and colour profiles are not looked at. Throws heed::Error that names the file for another format, more
// than kMostImagePixels (before memory is asked for), colours of printing (CMYK), and a file that is broken or ends too
// early.
Image read_image(const std::filesystem::path& path);
// The same of bytes in memory; `name` stands for the file in errors.
Image parse_image(std::string_view bytes, std::string_view name);

// The picture as a PNG file, without loss. Throws heed::Error for a picture without pixels.
std::string png_bytes(const Image& image);

}  // namespace heed
