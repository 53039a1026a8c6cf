// Sparse patterns of published models, which go by where a query stands: behind Mask's constructors of their names.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "heed/base/random.h"
#include "heed/ops/attention/spec/pattern_parts.h"

namespace heed {
namespace {

Index floor_divide(Index a, Index b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// How many j of the range have (j - origin) % step == 0.
Index count_steps(Range range, Index origin, Index step) {
  if (range.empty()) return 0;
  return floor_divide(range.end - 1 - origin, step) - floor_divide(range.begin - 1 - origin, step);
}

// A row of bits, one for each key of a range, in which a pattern clears what it refuses.
class KeyBits {
 public:
  KeyBits(Range keys, std::uint8_t* bits) : keys_(keys), bits_(bits) {}

  void clear(Range refused) {
    const Range inside = intersect(refused, keys_);
    if (!inside.empty()) std::fill_n(bits_ + (inside.begin - keys_.begin), inside.size(), std::uint8_t{0});
  }
  // Clears a range but for its j with (j - origin) % step == 0.
  void clear_between_steps(Range range, Index origin, Index step) {
    const Range inside = step == 1 ? Range{} : intersect(range, keys_);
    for (Index begin = inside.begin; begin < inside.end;) {
      const Index kept = origin + (floor_divide(begin - 1 - origin, step) + 1) * step;  // the first from begin on
      clear({begin, std::min(kept, inside.end)});
      begin = kept + 1;
    }
  }

 private:
  Range keys_;
  std::uint8_t* bits_;
};

// What depends on where the query stands.
class PositionPattern : public MaskPattern {
 public:
  bool has_positions() const final { return true; }
  bool has_rows() const final { return false; }
};

class StridedPattern final : public PositionPattern {
 public:
  explicit StridedPattern(Strided pattern) : stride_(std::min(pattern.stride, kFarthest)) {
    check_positive("strided", "stride", stride_);
  }
  std::optional<PeriodicKeys> periodic() const override { return PeriodicKeys{PeriodicKeys::Near::window, stride_}; }
  bool allows(Index, Index, Query query, Index j) const override {
    const Index distance = std::abs(query.position - j);
    return distance <= stride_ || distance % stride_ == 0;
  }
  Index count(Index, Index, Query query, Range keys) const override {
    const Range near = intersect(keys, {query.position - stride_, query.position + stride_ + 1});
    return near.size() + count_steps(keys, query.position, stride_) - count_steps(near, query.position, stride_);
  }
  void refuse(Index, Index, Query query, Range keys, std::uint8_t* allowed) const override {
    KeyBits bits(keys, allowed);
    bits.clear_between_steps({keys.begin, query.position - stride_}, query.position, stride_);
    bits.clear_between_steps({query.position + stride_ + 1, keys.end}, query.position, stride_);
  }

 private:
  Index stride_;
};

class FixedPattern final : public PositionPattern {
 public:
  explicit FixedPattern(Fixed pattern) : block_(pattern.block), summary_(pattern.summary) {
    check_positive("fixed", "block", block_);
    HEED_CHECK(summary_ >= 0 && summary_ <= block_, "Mask::fixed: summary must be in [0, block = {}], but is {}",
               block_, summary_);
    check_reach("fixed", "block", block_);
  }
  std::optional<PeriodicKeys> periodic() const override {
    if (summary_ != 1) return {};
    return PeriodicKeys{PeriodicKeys::Near::block, block_};
  }
  bool allows(Index, Index, Query query, Index j) const override {
    return j / block_ == floor_divide(query.position, block_) || j % block_ >= block_ - summary_;
  }
  Index count(Index, Index, Query query, Range keys) const override {
    const Index block = floor_divide(query.position, block_);
    const Range own = intersect(keys, {block * block_, (block + 1) * block_});
    return own.size() + summaries(keys) - summaries(own);
  }
  void refuse(Index, Index, Query query, Range keys, std::uint8_t* allowed) const override {
    KeyBits bits(keys, allowed);
    const Index own = floor_divide(query.position, block_);
    for (Index block = keys.begin / block_; block * block_ < keys.end; ++block) {
      if (block != own) bits.clear({block * block_, (block + 1) * block_ - summary_});
    }
  }

 private:
  Index summaries_before(Index j) const {
    return j / block_ * summary_ + std::max<Index>(0, j % block_ - (block_ - summary_));
  }
  Index summaries(Range keys) const { return summaries_before(keys.end) - summaries_before(keys.begin); }

  Index block_, summary_;
};

class LongformerPattern final : public PositionPattern {
 public:
  explicit LongformerPattern(Longformer pattern) : p_(pattern) {
    check_not_negative("longformer", "radius", p_.radius);
    check_not_negative("longformer", "global", p_.global);
    check_positive("longformer", "dilation", p_.dilation);
    p_.radius = std::min(p_.radius, kFarthest), p_.dilation = std::min(p_.dilation, kFarthest);
  }
  bool allows(Index, Index, Query query, Index j) const override {
    const Index distance = std::abs(query.position - j);
    return is_global(query.position) || is_global(j) ||
           (distance <= p_.radius * p_.dilation && distance % p_.dilation == 0);
  }
  Index count(Index, Index, Query query, Range keys) const override {
    if (is_global(query.position)) return keys.size();
    const Index reach = p_.radius * p_.dilation;
    const Range local = intersect(keys, {std::max(query.position - reach, p_.global), query.position + reach + 1});
    return intersect(keys, {0, p_.global}).size() + count_steps(local, query.position, p_.dilation);
  }
  // Windows of rows beside each other meet, and so do what they leave out.
  TileCover cover(Index b, Index h, Query first, Index rows, Range keys) const override {
    if (p_.dilation != 1) return MaskPattern::cover(b, h, first, rows, keys);
    Range local{first.position, first.position + rows};  // the rows that see no more than their windows
    const Range global = intersect(local, {0, p_.global});
    if (global == local) return TileCover::all;
    if (global.begin == local.begin) local.begin = global.empty() ? local.begin : global.end;
    if (global.end == local.end) local.end = global.empty() ? local.end : global.begin;
    const Range rest{std::max(keys.begin, p_.global), keys.end};
    const Range of_all{local.end - 1 - p_.radius, local.begin + p_.radius + 1};
    if (rest.empty() || intersect(rest, of_all) == rest) return TileCover::all;
    const Range of_any{local.begin - p_.radius, local.end + p_.radius};
    const bool none = global.empty() && keys.begin >= p_.global && intersect(keys, of_any).empty();
    return none ? TileCover::none : TileCover::some;
  }
  void refuse(Index, Index, Query query, Range keys, std::uint8_t* allowed) const override {
    if (is_global(query.position)) return;
    KeyBits bits(keys, allowed);
    const Index reach = p_.radius * p_.dilation;
    const Range local{std::max(query.position - reach, p_.global), query.position + reach + 1};
    bits.clear({p_.global, local.begin});
    bits.clear_between_steps(local, query.position, p_.dilation);
    bits.clear({std::max(local.end, p_.global), keys.end});
  }

 private:
  bool is_global(Index position) const { return position >= 0 && position < p_.global; }

  Longformer p_;
};

class BigBirdPattern final : public PositionPattern {
 public:
  explicit BigBirdPattern(BigBird pattern) : p_(pattern) {
    check_positive("bigbird", "block", p_.block);
    check_reach("bigbird", "block", p_.block);
    HEED_CHECK(p_.window >= 0 && p_.window % 2 == 1, "Mask::bigbird: window must be odd, but is {}", p_.window);
    check_not_negative("bigbird", "global", p_.global);
    HEED_CHECK(p_.random >= 0 && p_.random <= kMostRandom, "Mask::bigbird: random must be in [0, {}], but is {}",
               kMostRandom, p_.random);
    check_positive("bigbird", "positions", p_.positions);
    check_reach("bigbird", "positions", p_.positions);
    blocks_ = ceil_div(p_.positions, p_.block);
  }
  bool allows(Index, Index h, Query query, Index j) const override {
    const Index row = floor_divide(query.position, p_.block);
    return open(row, draw(h, row), j / p_.block);
  }
  Index count(Index, Index h, Query query, Range keys) const override {
    const Index row = floor_divide(query.position, p_.block);
    const Drawn drawn = draw(h, row);
    Index count = 0;
    for (Index column = keys.begin / p_.block; column * p_.block < keys.end; ++column) {
      if (open(row, drawn, column)) count += intersect(keys, {column * p_.block, (column + 1) * p_.block}).size();
    }
    return count;
  }
  // Rows of one block see the same.
  TileCover cover(Index b, Index h, Query first, Index rows, Range keys) const override {
    return cover_of_rows(*this, b, h, first, rows, keys, [&](Index r) {
      return (floor_divide(first.position + r, p_.block) + 1) * p_.block - first.position;
    });
  }
  void refuse(Index, Index h, Query query, Range keys, std::uint8_t* allowed) const override {
    KeyBits bits(keys, allowed);
    const Index row = floor_divide(query.position, p_.block);
    const Drawn drawn = draw(h, row);
    for (Index column = keys.begin / p_.block; column * p_.block < keys.end; ++column) {
      if (!open(row, drawn, column)) bits.clear({column * p_.block, (column + 1) * p_.block});
    }
  }

 private:
  static constexpr Index kMostRandom = 16;
  struct Drawn {
    std::array<Index, kMostRandom> columns;
    Index count = 0;
  };

  bool is_global(Index block) const { return block >= 0 && block < p_.global; }
  bool always_open(Index row, Index column) const {
    return is_global(row) || is_global(column) || std::abs(row - column) <= p_.window / 2;
  }
  bool open(Index row, const Drawn& drawn, Index column) const {
    const Index* end = drawn.columns.data() + drawn.count;
    return always_open(row, column) || std::find(drawn.columns.data(), end, column) != end;
  }
  // Distinct blocks that are not open anyway, as many as there are.
  Drawn draw(Index h, Index row) const {
    Drawn drawn;
    if (is_global(row)) return drawn;
    const Index global = std::min(p_.global, blocks_), reach = p_.window / 2;
    const Range window = intersect({row - reach, row + reach + 1}, {global, blocks_});
    const Index free = std::min(blocks_ - global - window.size(), p_.random);
    Rng rng(p_.seed, (static_cast<std::uint64_t>(h) << 32) + static_cast<std::uint32_t>(row));
    while (drawn.count < free) {
      const Index column = rng.below(blocks_);
      if (!open(row, drawn, column)) drawn.columns[static_cast<std::size_t>(drawn.count++)] = column;
    }
    return drawn;
  }

  BigBird p_;
  Index blocks_ = 0;
};

}  // namespace

Mask Mask::strided(Strided pattern) { return mask_of<StridedPattern>(pattern); }
Mask Mask::fixed(Fixed pattern) { return mask_of<FixedPattern>(pattern); }
Mask Mask::longformer(Longformer pattern) { return mask_of<LongformerPattern>(pattern); }
Mask Mask::bigbird(BigBird pattern) { return mask_of<BigBirdPattern>(pattern); }

}  // namespace heed
