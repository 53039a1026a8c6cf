#include "heed/layers/shared_angles.h"

#include <algorithm>
#include <vector>

namespace heed {
namespace {

constexpr Index kFewestPositions = 256;

}  // namespace

std::shared_ptr<const RotaryTables> SharedAngles::of_first(Index positions) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Index held = tables_ ? tables_->cos.dim(0) : 0;
  if (held < positions || !tables_) {
    const Index grown = std::max({positions, 2 * held, kFewestPositions});
    tables_ = std::make_shared<const RotaryTables>(rotary_tables(rotary_, grown, DType::f32));
  }
  return tables_;
}

std::shared_ptr<SharedAngles> shared_angles(const Rotary& rotary) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<SharedAngles>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(all, [](const auto& one) { return one.expired(); });
  for (const std::weak_ptr<SharedAngles>& one : all) {
    if (std::shared_ptr<SharedAngles> angles = one.lock(); angles && angles->rotary() == rotary) return angles;
  }
  auto angles = std::make_shared<SharedAngles>(rotary);
  all.push_back(angles);
  return angles;
}

}  // namespace heed
