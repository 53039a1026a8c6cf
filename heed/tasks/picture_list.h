// Many pictures of one size: those that a list names.
//
//   const PictureList pictures = read_picture_list("train.images");
//   pictures.images[17];                           // of line 18
//
// A line is the path of a PNG or JPEG file, from the list's own folder; or, behind it and with tabs between, the left
// edge, the top, the width and the height of the part that is the picture: "train-01.png<TAB>64<TAB>0<TAB>64<TAB>64".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/image/image.h"

namespace heed {

struct PictureList {
  std::vector<Image> images;  // of one size
  std::string fingerprint;    // of all pixels

  Index height() const { return images.front().height; }
  Index width() const { return images.front().width; }
};

inline constexpr std::size_t kMostListedBytes = std::size_t{8} << 30;  // of the pictures of a list

// Reads the pictures of the first `most` lines. Throws heed::Error that names the list and the line for a line that is
// none of these, a part that is not within its picture, and a picture of another size than the first; for a list
// without a line, and one of more than kMostListedBytes; and as read_image does.
PictureList read_picture_list(const std::filesystem::path& list, std::size_t most = SIZE_MAX);

}  // namespace heed
