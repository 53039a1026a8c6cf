// The lines above a figure; for what draws figures.
#pragma once

#include <string>
#include <vector>

#include "heed/viz/canvas.h"
#include "heed/viz/figure_style.h"

namespace heed {

struct FigureTitle {
  std::vector<std::string> title{}, subtitle{};  // in lines
  TextStyle title_style{}, subtitle_style{};
  double left = 0, top = 0;
  double width = 0, height = 0;  // of all lines

  void paint(Canvas& canvas) const;
};

// Breaks both, or the style's title in their place, into lines no wider than `room`, from the style's margins on. An
// empty one takes no room.
FigureTitle lay_title(const std::string& title, const std::string& subtitle, const FigureStyle& style, double room);

}  // namespace heed
