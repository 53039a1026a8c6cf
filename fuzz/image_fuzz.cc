// PNG and JPEG files: a picture has all its pixels, the same at every reading.
#include "heed/image/image.h"

#include "heed/image/resize.h"
#include "property.h"

namespace heed::fuzz {
namespace {

void check_image(std::string_view bytes) {
  const auto image = taken([&] { return parse_image(bytes, "input"); });
  if (!image) return;
  require(image->height >= 1 && image->width >= 1 && std::ssize(image->pixels) == image->height * image->width * 3,
          "a picture has all its pixels");
  require(parse_image(bytes, "input") == *image, "it is the same at every reading");
  constexpr Index kSmall = 1 << 12;  // pixels
  if (image->height * image->width > kSmall) return;
  require(resized(*image, 3, 5, Resampling::bicubic).pixels.size() == 3 * 5 * 3, "it can be resized");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_image(heed::fuzz::bytes_of(data, size));
  return 0;
}
