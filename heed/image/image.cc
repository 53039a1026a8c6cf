#include "heed/image/image.h"

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/image/formats.h"

namespace heed {

void check_image_extents(std::uint64_t height, std::uint64_t width, std::string_view name) {
  constexpr auto kMost = static_cast<std::uint64_t>(kMostImagePixels);
  HEED_CHECK(height >= 1 && width >= 1, "{}: is a picture of {} x {} pixels", name, width, height);
  HEED_CHECK(height <= kMost && width <= kMost && height * width <= kMost,
             "{}: is a picture of {} x {} pixels; heed reads up to {} of them", name, width, height, kMostImagePixels);
}

Image parse_image(std::string_view bytes, std::string_view name) {
  constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff";
  if (bytes.starts_with(kPng)) return parse_png(bytes, name);
  if (bytes.starts_with(kJpeg)) return parse_jpeg(bytes, name);
  fail("{}: is neither a PNG nor a JPEG file", name);
}

Image read_image(const std::filesystem::path& path) { return parse_image(read_file(path), path.string()); }

}  // namespace heed
