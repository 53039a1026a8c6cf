#include "heed/text/tokenizer/piece_table.h"

#include <functional>

#include "heed/base/check.h"
#include "heed/base/printable.h"

namespace heed {
namespace {

constexpr std::size_t kFirstSlots = 64;

std::uint32_t hash_of(std::string_view piece) {
  const std::uint64_t hash = std::hash<std::string_view>{}(piece);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

void PieceTable::add(std::string piece, Index id) {
  HEED_CHECK(id >= 0 && id < kMostPieces, "the piece '{}' has the id {}, which is not in [0, {})", printable(piece), id,
             kMostPieces);
  ++count_;
  if (slots_.size() < 2 * static_cast<std::size_t>(count_)) grow();
  if (id >= size()) pieces_.resize(static_cast<std::size_t>(id) + 1);
  std::string& place = pieces_[static_cast<std::size_t>(id)];
  const std::uint32_t hash = hash_of(piece);
  HEED_CHECK(place.empty() || place == piece, "the pieces '{}' and '{}' have the same id {}", printable(place),
             printable(piece), id);
  slot_of(piece, hash) = {hash, static_cast<int>(id)};
  place = std::move(piece);
}

int PieceTable::find(std::string_view piece) const {
  if (slots_.empty()) return -1;
  const std::uint32_t hash = hash_of(piece);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].id >= 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && pieces_[static_cast<std::size_t>(slots_[at].id)] == piece) return slots_[at].id;
  }
  return -1;
}

PieceTable::Slot& PieceTable::slot_of(std::string_view piece, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0 &&
         !(slots_[at].hash == hash && pieces_[static_cast<std::size_t>(slots_[at].id)] == piece)) {
    at = (at + 1) & mask;
  }
  return slots_[at];
}

void PieceTable::grow() {
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace heed
