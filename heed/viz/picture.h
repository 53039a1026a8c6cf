// A picture that is drawn by one piece of code on three kinds of paper: SVG, PNG and PDF.
//
//   Picture picture = draw_figure(trace, trace.maps[0]);
//   save_picture(picture, "map.svg");              // the ending chooses: .svg, .png or .pdf
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/viz/canvas.h"

namespace heed {

// A size in points (1/72 inch, in every format: a PNG says how large its pixels are) and the code that paints it. The
// title and the description are the picture's words for those who do not see it: they go into the file where its format
// can hold them.
struct Picture {
  double width = 0, height = 0;
  std::string title{}, description{};
  std::function<void(Canvas&)> paint{};
  double pixels_per_inch = 144;  // of a PNG
};

enum class PictureFormat { svg, png, pdf };

// The format that a file's ending asks for, in either case of letters. Throws heed::Error for any other ending.
PictureFormat picture_format(const std::filesystem::path& path);

// The bytes of the file. The same picture and fonts give the same bytes. A PNG has fewer pixels to the inch than the
// picture asks for where it would have more than 64 million. Throws heed::Error for a size that is not in [1, 30000]
// and for what Cairo cannot do.
std::string render(const Picture& picture, PictureFormat format);

// Renders in the format that the ending asks for and replaces the file, whole or not at all. Throws heed::Error.
void save_picture(const Picture& picture, const std::filesystem::path& path);

// The characters of the picture's text that no font of this machine has, each once, in order: in a PNG and a PDF a box
// stands for each. (An SVG is drawn with the fonts of whoever looks at it.)
std::vector<std::string> missing_glyphs(const Picture& picture);

}  // namespace heed
