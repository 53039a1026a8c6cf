// The libraries behind parse_image(); use image.h.
#pragma once

#include <string_view>

#include "heed/image/image.h"

namespace heed {

Image parse_png(std::string_view bytes, std::string_view name);
Image parse_jpeg(std::string_view bytes, std::string_view name);

// Throws heed::Error for extents that are not in reason.
void check_image_extents(std::uint64_t height, std::uint64_t width, std::string_view name);

}  // namespace heed
