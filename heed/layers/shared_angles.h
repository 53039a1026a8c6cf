// Tables of rotary positions, one for all layers that turn alike, as long as the positions that were asked for: a model
// of 32 layers that says 131,072 positions and reads 512 has one table of 512.
//
//   const std::shared_ptr<SharedAngles> angles = shared_angles(rotary);
//   const std::shared_ptr<const RotaryTables> tables = angles->of_first(length);
#pragma once

#include <memory>
#include <mutex>

#include "heed/ops/rotary/rotary.h"

namespace heed {

// May be called from many threads.
class SharedAngles {
 public:
  explicit SharedAngles(const Rotary& rotary) : rotary_(rotary) {}

  // rotary_tables of the first `positions` or more, in f32: an angle is the same in every table. Tables at least double
  // when they grow, so that decoding n tokens one by one makes O(n) angles.
  std::shared_ptr<const RotaryTables> of_first(Index positions);
  const Rotary& rotary() const { return rotary_; }

 private:
  Rotary rotary_;
  std::mutex mutex_;
  std::shared_ptr<const RotaryTables> tables_;
};

// The same object for equal options, for as long as somebody holds it.
std::shared_ptr<SharedAngles> shared_angles(const Rotary& rotary);

}  // namespace heed
