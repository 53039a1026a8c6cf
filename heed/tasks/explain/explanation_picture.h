// The picture of an explanation: its weights as a heat map, or its table of positions.
//
//   save_picture(draw_explanation(explain_positions(50, 128)), "positions.png");
#pragma once

#include "heed/tasks/explain/explanation.h"
#include "heed/viz/picture.h"

namespace heed {

// Draws explanation.pictured: weights with their numbers where they are few, several heads side by side; positions as
// draw_positions does. Throws heed::Error as the drawing functions do (more than 64 heads, too many cells).
Picture draw_explanation(const Explanation& explanation);

}  // namespace heed
