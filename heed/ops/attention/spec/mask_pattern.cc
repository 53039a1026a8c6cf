// The patterns behind the named constructors of Mask.
#include "heed/ops/attention/spec/mask_pattern.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/random.h"
#include "heed/kernels/byte_bits.h"
#include "heed/ops/attention/spec/mask.h"
#include "heed/tensor/numbers.h"
#include "heed/tensor/operands.h"

namespace heed {
namespace {

Index floor_divide(Index a, Index b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// What is farther than any position acts the same, and sums and products of two of these do not overflow.
constexpr Index kFarthest = kMostPositions;

// How many j of the range have (j - origin) % step == 0.
Index count_steps(Range range, Index origin, Index step) {
  if (range.empty()) return 0;
  return floor_divide(range.end - 1 - origin, step) - floor_divide(range.begin - 1 - origin, step);
}

// Judges a tile by what its first row allows, and those that next(r) leads to, until the answer is known.
template <typename Next>
TileCover cover_of_rows(const MaskPattern& pattern, Index b, Index h, Query first, Index rows, Range keys, Next next) {
  bool any = false, every = true;
  for (Index r = 0; r < rows && (every || !any); r = next(r)) {
    const Index allowed = pattern.count(b, h, {first.row + r, first.position + r}, keys);
    any |= allowed > 0, every &= allowed == keys.size();
  }
  return !any ? TileCover::none : every ? TileCover::all : TileCover::some;
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

void check_positive(const char* pattern, const char* name, Index value) {
  HEED_CHECK(value >= 1, "Mask::{}: {} must be at least 1, but is {}", pattern, name, value);
}

void check_not_negative(const char* pattern, const char* name, Index value) {
  HEED_CHECK(value >= 0, "Mask::{}: {} must not be negative, but is {}", pattern, name, value);
}

void check_reach(const char* pattern, const char* name, Index value) {
  HEED_CHECK(value <= kFarthest, "Mask::{}: {} must be at most {}, but is {}", pattern, name, kFarthest, value);
}

class BooleanPattern final : public MaskPattern {
 public:
  explicit BooleanPattern(Tensor allowed) : given_(std::move(allowed)), allowed_(broadcast_axes(given_.view(), 4)) {}
  void check(const char* caller, const MaskShape& shape) const override {
    const ConstView& given = given_.view();
    check_operand(caller, {"the boolean mask", given});
    const auto fits = [&](int axis, Index extent) { return given.shape[axis] == extent || given.shape[axis] == 1; };
    HEED_CHECK(given.dtype == DType::boolean && given.rank == 4 && fits(0, shape.batch) && fits(1, shape.heads) &&
                   fits(2, shape.queries) && fits(3, shape.keys),
               "{}: the boolean mask must be boolean [B | 1, H | 1, Lq | 1, Lk | 1] of [{}, {}, {}, {}], but is {}",
               caller, shape.batch, shape.heads, shape.queries, shape.keys, describe(given));
  }
  std::span<const Tensor> tensors() const override { return {&given_, 1}; }
  bool has_rows() const override { return given_.dim(2) != 1; }
  bool allows(Index b, Index h, Query query, Index j) const override {
    return allowed_.at<std::uint8_t>({b, h, query.row, j}) != 0;
  }
  Index count(Index b, Index h, Query query, Range keys) const override {
    int count = 0;  // a tile's keys are few, and a loop over small numbers is a vector's
    for_keys(b, h, query, keys, [&](Index, bool is_allowed) { count += is_allowed; });
    return count;
  }
  void refuse(Index b, Index h, Query query, Range keys, std::uint8_t* allowed) const override {
    for_keys(b, h, query, keys, [&](Index n, bool is_allowed) { allowed[n] &= is_allowed; });
  }
  void refuse_bits(Index b, Index h, Query first, Index rows, Range keys, std::uint64_t* allowed) const override {
    if (allowed_.stride[3] != 1) return MaskPattern::refuse_bits(b, h, first, rows, keys, allowed);
    const std::uint8_t* row = &allowed_.at<std::uint8_t>({b, h, first.row, keys.begin});
    kernels::keep_set_bytes(rows, keys.size(), row, allowed_.stride[2], allowed);
  }

 private:
  // Calls f(n, whether key keys.begin + n is allowed), by a loop that the compiler knows the stride of where it is one.
  template <typename F>
  void for_keys(Index b, Index h, Query query, Range keys, const F& f) const {
    const Index step = allowed_.stride[3], count = keys.size();
    const std::uint8_t* row = &allowed_.at<std::uint8_t>({b, h, query.row}) + keys.begin * step;
    if (step == 1) {
      for (Index n = 0; n < count; ++n) f(n, row[n] != 0);
    } else {
      for (Index n = 0; n < count; ++n) f(n, row[n * step] != 0);
    }
  }

  Tensor given_;
  ConstView allowed_;
};

class SegmentPattern final : public MaskPattern {
 public:
  SegmentPattern(Tensor of_queries, Tensor of_keys)
      : given_{std::move(of_queries), std::move(of_keys)},
        queries_(broadcast_axes(given_[0].view(), 1)),
        keys_(broadcast_axes(given_[1].view(), 1)) {}
  void check(const char* caller, const MaskShape& shape) const override {
    check_operand(caller, {"the queries' segments", given_[0].view()});
    check_operand(caller, {"the keys' segments", given_[1].view()});
    const auto fits = [&](const ConstView& view, Index length) {
      return is_integer(view.dtype) && view.rank == 2 && (view.shape[0] == shape.batch || view.shape[0] == 1) &&
             view.shape[1] == length;
    };
    HEED_CHECK(fits(given_[0].view(), shape.queries) && fits(given_[1].view(), shape.keys),
               "{}: segments must be i32 or i64 [B | 1, Lq] and [B | 1, Lk] of B = {}, Lq = {}, Lk = {}, but are {} "
               "and {}",
               caller, shape.batch, shape.queries, shape.keys, describe(given_[0].view()), describe(given_[1].view()));
  }
  std::span<const Tensor> tensors() const override { return given_; }
  bool allows(Index b, Index, Query query, Index j) const override {
    return integer_at(queries_, {b, query.row}) == integer_at(keys_, {b, j});
  }

 private:
  std::array<Tensor, 2> given_;
  ConstView queries_, keys_;
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

class TilePattern final : public MaskPattern {
 public:
  TilePattern(Tensor open, Index rows, Index keys)
      : given_(std::move(open)), open_(given_.view()), rows_(rows), keys_(keys) {
    check_positive("tiles", "rows", rows);
    check_positive("tiles", "keys", keys);
    check_reach("tiles", "rows", rows);
    check_reach("tiles", "keys", keys);
    if (open_.shape[0] == 1) open_.stride[0] = 0;
  }
  void check(const char* caller, const MaskShape& shape) const override {
    const ConstView& given = given_.view();
    check_operand(caller, {"the tiles", given});
    const Index down = ceil_div(shape.queries, rows_), across = ceil_div(shape.keys, keys_);
    HEED_CHECK(given.dtype == DType::boolean && given.rank == 3 &&
                   (given.shape[0] == shape.heads || given.shape[0] == 1) && given.shape[1] == down &&
                   given.shape[2] == across,
               "{}: the tiles of {} x {} must be boolean [H | 1, {}, {}] of H = {}, but are {}", caller, rows_, keys_,
               down, across, shape.heads, describe(given));
  }
  std::span<const Tensor> tensors() const override { return {&given_, 1}; }
  bool allows(Index, Index h, Query query, Index j) const override {
    return open_.at<std::uint8_t>({h, query.row / rows_, j / keys_}) != 0;
  }
  Index count(Index, Index h, Query query, Range keys) const override {
    Index count = 0;
    for (Index column = keys.begin / keys_; column * keys_ < keys.end; ++column) {
      if (open_.at<std::uint8_t>({h, query.row / rows_, column}) != 0) {
        count += intersect(keys, {column * keys_, (column + 1) * keys_}).size();
      }
    }
    return count;
  }

 private:
  Tensor given_;
  ConstView open_;
  Index rows_, keys_;
};

class PredicatePattern final : public MaskPattern {
 public:
  explicit PredicatePattern(std::function<bool(Index, Index, Index, Index)> allows) : allows_(std::move(allows)) {
    HEED_CHECK(allows_ != nullptr, "Mask::predicate: the function must not be empty");
  }
  bool allows(Index b, Index h, Query query, Index j) const override { return allows_(b, h, query.row, j); }

 private:
  std::function<bool(Index, Index, Index, Index)> allows_;
};

template <typename Pattern, typename... Arguments>
Mask mask_of(Arguments&&... arguments) {
  Mask mask;
  mask.patterns.push_back(std::make_shared<Pattern>(std::forward<Arguments>(arguments)...));
  return mask;
}

}  // namespace

void MaskPattern::check(const char*, const MaskShape&) const {}

Index MaskPattern::count(Index b, Index h, Query query, Range keys) const {
  Index count = 0;
  for (Index j = keys.begin; j < keys.end; ++j) count += allows(b, h, query, j);
  return count;
}

TileCover MaskPattern::cover(Index b, Index h, Query first, Index rows, Range keys) const {
  return cover_of_rows(*this, b, h, first, rows, keys, [](Index r) { return r + 1; });
}

void MaskPattern::refuse(Index b, Index h, Query query, Range keys, std::uint8_t* allowed) const {
  for (Index j = keys.begin; j < keys.end; ++j) {
    std::uint8_t& bit = allowed[j - keys.begin];
    if (bit != 0 && !allows(b, h, query, j)) bit = 0;
  }
}

void MaskPattern::refuse_bits(Index b, Index h, Query first, Index rows, Range keys, std::uint64_t* allowed) const {
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - keys.size());
  for (Index r = 0; r < rows; ++r) {
    if (allowed[r] == 0) continue;
    std::uint8_t bytes[64];
    if (allowed[r] == all) {
      std::fill_n(bytes, 64, std::uint8_t{1});
    } else {
      for (Index n = 0; n < 64; ++n) bytes[n] = allowed[r] >> n & 1;
    }
    refuse(b, h, {first.row + r, first.position + r}, keys, bytes);
    kernels::keep_set_bytes(1, keys.size(), bytes, 0, allowed + r);
  }
}

Mask Mask::boolean(Tensor allowed) { return mask_of<BooleanPattern>(std::move(allowed)); }
Mask Mask::segments(Tensor of_queries, Tensor of_keys) {
  return mask_of<SegmentPattern>(std::move(of_queries), std::move(of_keys));
}
Mask Mask::strided(Strided pattern) { return mask_of<StridedPattern>(pattern); }
Mask Mask::fixed(Fixed pattern) { return mask_of<FixedPattern>(pattern); }
Mask Mask::longformer(Longformer pattern) { return mask_of<LongformerPattern>(pattern); }
Mask Mask::bigbird(BigBird pattern) { return mask_of<BigBirdPattern>(pattern); }
Mask Mask::tiles(Tensor open, Index rows, Index keys) { return mask_of<TilePattern>(std::move(open), rows, keys); }
Mask Mask::predicate(std::function<bool(Index b, Index h, Index i, Index j)> allows) {
  return mask_of<PredicatePattern>(std::move(allows));
}

}  // namespace heed
