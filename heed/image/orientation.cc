#include "heed/image/orientation.h"

#include <algorithm>
#include <cstdint>

namespace heed {
namespace {

// The numbers of a TIFF file, in the order of bytes that it says; 0 behind its end.
class TiffNumbers {
 public:
  explicit TiffNumbers(std::string_view bytes) : bytes_(bytes), is_little_(bytes.starts_with("II")) {}

  std::uint32_t at(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return 0;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t from = is_little_ ? size - 1 - i : i;
      number = number << 8 | static_cast<std::uint8_t>(bytes_[offset + from]);
    }
    return number;
  }

 private:
  std::string_view bytes_;
  bool is_little_;
};

}  // namespace

int exif_orientation(std::string_view exif) {
  constexpr std::uint32_t kMagic = 42, kOrientation = 0x0112, kShort = 3, kLong = 4;
  constexpr std::size_t kEntry = 12;
  if (!exif.starts_with("II") && !exif.starts_with("MM")) return 1;
  const TiffNumbers numbers(exif);
  if (numbers.at(2, 2) != kMagic) return 1;
  const std::size_t directory = numbers.at(4, 4), entries = numbers.at(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    if (numbers.at(entry, 2) != kOrientation) continue;
    const std::uint32_t type = numbers.at(entry + 2, 2);
    const std::uint32_t orientation = type == kShort  ? numbers.at(entry + 8, 2)
                                      : type == kLong ? numbers.at(entry + 8, 4)
                                                      : 1;
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

Image upright(const Image& image, int orientation) {
  if (orientation == 1) return image;
  const bool is_turned = orientation >= 5;  // its rows are columns
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Image seen{is_turned ? image.width : image.height, is_turned ? image.height : image.width};
  seen.pixels.resize(image.pixels.size());
  std::uint8_t* to = seen.pixels.data();
  for (Index y = 0; y < seen.height; ++y) {
    for (Index x = 0; x < seen.width; ++x) {
      const Index row = is_turned ? x : y, column = is_turned ? y : x;
      to = std::copy_n(
          image.at(from_below ? image.height - 1 - row : row, from_right ? image.width - 1 - column : column), 3, to);
    }
  }
  return seen;
}

}  // namespace heed
