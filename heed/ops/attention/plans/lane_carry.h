// What one sweep over some of the keys of rows leaves to another one over the next.
#pragma once

#include "heed/ops/attention/plans/lane_products.h"
#include "heed/tensor/view.h"

namespace heed {

// What rows have added up. Their outputs, which are still to be multiplied by a number of the row's, lie where the
// result's are to be.
struct LaneCarry {
  View top{}, sum{};  // f32 [B, H, Lq]; empty: the sweep is the only one
  bool first = true, last = true;
  bool apart = false;  // whether each key is in a block of its own

  bool active() const { return bool{top}; }
};

// Of gradients, which lie where the results' are to be.
struct GradientCarry {
  bool active = false;  // whether they hold what other sweeps have added up; else the sweep is the only one
  // How this one adds to them: apart where each key is in a block, or each row in a tile, of its own.
  AddedTo queries = AddedTo::sums, keys = AddedTo::sums;
};

}  // namespace heed
