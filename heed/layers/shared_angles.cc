#include "heed/layers/shared_angles.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace heed {
namespace {

struct Held {
  Rotary rotary;
  Index positions;
  std::weak_ptr<const RotaryTables> tables;
};

}  // namespace

std::shared_ptr<const RotaryTables> shared_angles(const Rotary& rotary, Index positions) {
  static std::mutex mutex;
  static std::vector<Held> held;
  const std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(held, [](const Held& one) { return one.tables.expired(); });
  const auto found =
      std::ranges::find_if(held, [&](const Held& one) { return one.positions == positions && one.rotary == rotary; });
  if (found != held.end()) {
    if (std::shared_ptr<const RotaryTables> tables = found->tables.lock()) return tables;
  }
  auto tables = std::make_shared<const RotaryTables>(rotary_tables(rotary, positions, DType::f32));
  held.push_back({rotary, positions, tables});
  return tables;
}

}  // namespace heed
