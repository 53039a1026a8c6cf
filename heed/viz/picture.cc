#include "heed/viz/picture.h"

#include <algorithm>
#include <cmath>

#include "heed/base/check.h"
#include "heed/base/file_writer.h"
#include "heed/base/name_ending.h"
#include "heed/viz/backends.h"

namespace heed {
namespace {

constexpr double kLargestSide = 30000;
constexpr double kMostPixelsPerInch = 2400;
constexpr double kMostPixels = 64e6;
constexpr double kLargestPngSide = 32000;  // Cairo's images end at 32767

}  // namespace

PictureFormat picture_format(const std::filesystem::path& path) {
  const std::string ending = name_ending(path);
  if (ending == ".svg") return PictureFormat::svg;
  if (ending == ".png") return PictureFormat::png;
  if (ending == ".pdf") return PictureFormat::pdf;
  fail("{}: a picture's name must end in .svg, .png or .pdf, but ends in '{}'", path.string(), ending);
}

std::string render(const Picture& picture, PictureFormat format) {
  const auto good = [](double side) { return side >= 1 && side <= kLargestSide; };
  HEED_CHECK(good(picture.width) && good(picture.height),
             "render: a picture's sides must lie in [1, {}] points, but are {} x {}", kLargestSide, picture.width,
             picture.height);
  HEED_CHECK(picture.paint, "render: the picture has no paint function");
  switch (format) {
    case PictureFormat::svg:
      return render_svg(picture);
    case PictureFormat::pdf:
      return render_pdf(picture);
    case PictureFormat::png:
      break;
  }
  HEED_CHECK(picture.pixels_per_inch > 0 && picture.pixels_per_inch <= kMostPixelsPerInch,
             "render: pixels to the inch must lie in (0, {}], but are {}", kMostPixelsPerInch, picture.pixels_per_inch);
  return render_png(picture,
                    std::min({picture.pixels_per_inch / 72, std::sqrt(kMostPixels / (picture.width * picture.height)),
                              kLargestPngSide / std::max(picture.width, picture.height)}));
}

void save_picture(const Picture& picture, const std::filesystem::path& path) {
  write_file(path, render(picture, picture_format(path)));
}

}  // namespace heed
