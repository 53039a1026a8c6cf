#include "heed/ops/attention/plans/lane_parts.h"

#include <algorithm>
#include <bit>

namespace heed {
namespace {

using kernels::kLaneUnit;
using kernels::LanePart;

// The keys from the first to the last that a unit of lanes has. They begin with a chain of the kernels' sums.
LanePart keys_of_unit(Index keys, Index lanes, const std::uint32_t* allowed, Index lane) {
  std::uint32_t low = 0, high = 0;
  for (Index r = lane; r < lane + kLaneUnit; ++r) low |= allowed[r], high |= allowed[lanes + r];
  const std::uint64_t any = (std::uint64_t{high} << 32) | low;
  if (any == 0) return {0, 0, lane, lane + kLaneUnit};
  const Index first = std::countr_zero(any) / 4 * 4, end = (64 - std::countl_zero(any) + 3) / 4 * 4;
  return {first, std::min(end, keys), lane, lane + kLaneUnit};
}

}  // namespace

LaneParts::LaneParts(Index keys, Index lanes, const std::uint32_t* allowed) : keys_(keys), lanes_(lanes) {
  Index left = 0;
  for (Index lane = 0; lane < lanes; lane += kLaneUnit) {
    const LanePart unit = keys_of_unit(keys, lanes, allowed, lane);
    if (unit.keys() == 0) continue;
    left += unit.keys() * unit.lanes();
    LanePart* last = count_ == 0 ? nullptr : &parts_[count_ - 1];
    if (last != nullptr && last->end_lane == lane && last->first_key == unit.first_key &&
        last->end_key == unit.end_key) {
      last->end_lane = unit.end_lane;
    } else {
      parts_[count_++] = unit;
    }
  }
  if (left * 8 > keys * lanes * 7) *this = LaneParts(keys, lanes);
}

bool LaneParts::leaves_lanes_out() const {
  Index lanes = 0;
  for (const LanePart& part : by_lanes()) lanes += part.lanes();
  return lanes < lanes_;
}

void LaneParts::clear_rest(float* block) const {
  if (is_whole()) return;
  const auto clear = [&](Index first_key, Index end_key, Index first_lane, Index end_lane) {
    for (Index key = first_key; key < end_key; ++key)
      std::fill(block + key * lanes_ + first_lane, block + key * lanes_ + end_lane, 0.0f);
  };
  Index lane = 0;
  for (const LanePart& part : by_lanes()) {
    clear(0, keys_, lane, part.first_lane);
    clear(0, part.first_key, part.first_lane, part.end_lane);
    clear(part.end_key, keys_, part.first_lane, part.end_lane);
    lane = part.end_lane;
  }
  clear(0, keys_, lane, lanes_);
}

}  // namespace heed
