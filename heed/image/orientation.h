// How a camera was held: photographs are kept as the sensor lay, with a note of which way is up.
//
//   const Image seen = upright(image, exif_orientation(exif));
#pragma once

#include <string_view>

#include "heed/image/image.h"

namespace heed {

// The orientation that a block of Exif says, 1 to 8, from behind its "Exif\0\0": a TIFF header and its first directory.
// 1, as the picture lies, where it says none or makes no sense: a note is no reason to refuse a picture.
int exif_orientation(std::string_view exif);

// The picture turned and mirrored as its orientation says, with its pixels moved and none changed.
Image upright(const Image& image, int orientation);

}  // namespace heed
