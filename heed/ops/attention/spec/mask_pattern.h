// A part of a mask that is no interval of each row: what Mask::boolean, segments, bigbird and the like are made of, and
// what a pattern of one's own derives from.
//
//   struct EvenKeys final : MaskPattern {
//     bool allows(Index, Index, Query, Index j) const override { return j % 2 == 0; }
//   };
//   Mask mask = Mask::causal();  mask.patterns.push_back(std::make_shared<EvenKeys>());
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heed/base/index.h"
#include "heed/tensor/tensor.h"

namespace heed {

// The most queries, and keys, that a problem may have: no position is as large.
inline constexpr Index kMostPositions = Index{1} << 30;

// The problem that a mask is laid over.
struct MaskShape {
  Index batch = 0, heads = 0, queries = 0, keys = 0;
  Index first_batch = 0;  // what patterns are told batch element 0 is: the number of a packed sequence
};

// What a mask says about a tile: every key refused (skip it), every key allowed (run no mask code), or ask for each.
enum class TileCover { none, all, some };

// Rows or keys [begin, end).
struct Range {
  Index begin = 0, end = 0;
  Index size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

inline Range intersect(Range a, Range b) {
  const Range both{a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  return both.empty() ? Range{} : both;
}

// A query by its row and by the key position at which it stands.
struct Query {
  Index row, position;
};

// A pattern that repeats: every key near a query, and beyond those one in each period.
struct PeriodicKeys {
  enum class Near {
    window,  // up to a period away; beyond, the keys that are whole periods away
    block,   // the query's own block [n period, (n + 1) period); beyond, the last key of each block
  };
  Near near;
  Index period;
};

class MaskPattern {
 public:
  virtual ~MaskPattern() = default;
  // Throws heed::Error, naming `caller`, where the pattern does not fit the problem.
  virtual void check(const char* caller, const MaskShape& shape) const;
  // Whether the answer depends on the query's position, and so on the mask's anchor.
  virtual bool has_positions() const { return false; }
  // Whether the answer depends on the query's row, which a query that is decoded alone does not have.
  virtual bool has_rows() const { return true; }

  // What the pattern is, where it repeats: plans may know a faster way then. It says no more than allows() does.
  virtual std::optional<PeriodicKeys> periodic() const { return {}; }

  // The tensors that it reads, which a call must not write.
  virtual std::span<const Tensor> tensors() const { return {}; }

  // The definition: may the query attend to key j?
  virtual bool allows(Index b, Index h, Query query, Index j) const = 0;
  // How many of the keys are allowed. The one here asks for each key.
  virtual Index count(Index b, Index h, Query query, Range keys) const;
  // What it says about a tile: `rows` >= 1 queries from `first` on, and one key at least. The one here counts for each
  // row until it knows.
  virtual TileCover cover(Index b, Index h, Query first, Index rows, Range keys) const;
  // Clears allowed[j - keys.begin] where key j is refused. The one here asks for each key that is still set.
  virtual void refuse(Index b, Index h, Query query, Range keys, std::uint8_t* allowed) const;
  // The same for `rows` queries from `first` on and 1 to 64 keys, whose bits are in a word for each query. The one
  // here refuses to one query after another.
  virtual void refuse_bits(Index b, Index h, Query first, Index rows, Range keys, std::uint64_t* allowed) const;
};

}  // namespace heed
