// Tables of rotary positions, one for all layers that turn alike: a model of 32 layers and 131,072 positions has one of
// 67 MB, not 32.
//
//   const std::shared_ptr<const RotaryTables> angles = shared_angles(rotary, max_positions);
#pragma once

#include <memory>

#include "heed/ops/rotary/rotary.h"

namespace heed {

// rotary_tables(rotary, positions, DType::f32), the same tables for as long as somebody holds them. May be called from
// many threads.
std::shared_ptr<const RotaryTables> shared_angles(const Rotary& rotary, Index positions);

}  // namespace heed
