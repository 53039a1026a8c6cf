// Pieces and their ids, found both ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed {

class PieceTable {
 public:
  static constexpr Index kMostPieces = Index{1} << 24;

  // Ids need not come in order, and may leave holes. A piece that comes twice is found with its last id. Throws
  // heed::Error for an id outside [0, kMostPieces), or one that another piece has.
  void add(std::string piece, Index id);

  // -1 where there is none.
  int find(std::string_view piece) const;
  // Empty for a hole.
  const std::string& piece(int id) const { return pieces_[static_cast<std::size_t>(id)]; }
  // The largest id + 1.
  Index size() const { return static_cast<Index>(pieces_.size()); }
  // How many were added.
  Index count() const { return count_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    int id = -1;
  };

  Slot& slot_of(std::string_view piece, std::uint32_t hash);
  void grow();

  std::vector<std::string> pieces_;
  std::vector<Slot> slots_;  // a power of two of them, at most half full
  Index count_ = 0;
};

}  // namespace heed
