// The three papers behind render(); use picture.h.
#pragma once

#include <string>

#include "heed/viz/picture.h"

namespace heed {

// Text stays text: it can be selected, searched and read aloud. The words are as wide as they were measured, whatever
// font the viewer has.
std::string render_svg(const Picture& picture);
// `scale` pixels to the point, at least one pixel each way.
std::string render_png(const Picture& picture, double scale);
std::string render_pdf(const Picture& picture);

}  // namespace heed
