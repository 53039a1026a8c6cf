// What a mask leaves of a block of keys to the rows of a tile, so that products and passes need not compute the rest:
// a refused key adds an exact zero, and no bit depends on whether it was added.
#pragma once

#include <array>
#include <span>

#include "heed/kernels/attention_lanes.h"

namespace heed {

class LaneParts {
 public:
  // Every key against every lane.
  LaneParts(Index keys, Index lanes) : keys_(keys), lanes_(lanes), count_(1), parts_{{{0, keys, 0, lanes}}} {}
  // Each unit of lanes has the keys from the first to the last one that AttentionLanes::allowed leaves to a row of it;
  // units beside each other with the same keys are one part. All of the block where that saves little.
  LaneParts(Index keys, Index lanes, const std::uint32_t* allowed);

  std::span<const kernels::LanePart> by_lanes() const { return {parts_.data(), count_}; }
  // Whether some lane has no key.
  bool leaves_lanes_out() const;
  bool is_whole() const { return count_ == 1 && parts_[0].keys() == keys_ && parts_[0].lanes() == lanes_; }

  // The same cut the other way: calls f(part) for runs of keys that together are all that some lane has, each with the
  // lanes from the first to the last that has one of them. What lies between, but in no part above, is to be zero.
  template <typename F>
  void by_keys(const F& f) const {
    for (Index begin = 0; begin < keys_;) {
      Index end = keys_;
      kernels::LanePart run{begin, keys_, lanes_, 0};
      for (const kernels::LanePart& part : by_lanes()) {
        for (Index edge : {part.first_key, part.end_key}) {
          if (edge > begin && edge < end) end = edge;
        }
        if (part.first_key > begin || part.end_key <= begin) continue;
        if (part.first_lane < run.first_lane) run.first_lane = part.first_lane;
        run.end_lane = part.end_lane;
      }
      run.end_key = end;
      if (run.end_lane > run.first_lane) f(run);
      begin = end;
    }
  }

  // Clears what of a block of numbers [keys, lanes] is in no part.
  void clear_rest(float* block) const;

 private:
  static constexpr Index kMostParts = kernels::kMostLanes / kernels::kLaneUnit;

  Index keys_, lanes_;
  std::size_t count_ = 0;
  std::array<kernels::LanePart, kMostParts> parts_{};  // lanes ascend
};

}  // namespace heed
