// Patterns that a caller gives in tensors, or as a function: behind Mask's constructors of their names.
#include <array>
#include <utility>

#include "heed/kernels/byte_bits.h"
#include "heed/ops/attention/spec/pattern_parts.h"
#include "heed/tensor/numbers.h"
#include "heed/tensor/operands.h"

namespace heed {
namespace {

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
    return segment_of(b, query.row) == integer_at(keys_, {b, j});
  }
  Index count(Index b, Index, Query query, Range keys) const override {
    const Index segment = segment_of(b, query.row);
    Index count = 0;
    for_keys(b, keys, [&](Index, Index of_key) { count += of_key == segment; });
    return count;
  }
  TileCover cover(Index b, Index h, Query first, Index rows, Range keys) const override {
    return cover_of_rows(*this, b, h, first, rows, keys, [&](Index r) { return after_segment(b, first.row, r, rows); });
  }
  void refuse(Index b, Index, Query query, Range keys, std::uint8_t* allowed) const override {
    const Index segment = segment_of(b, query.row);
    for_keys(b, keys, [&](Index n, Index of_key) { allowed[n] &= of_key == segment; });
  }
  void refuse_bits(Index b, Index, Query first, Index rows, Range keys, std::uint64_t* allowed) const override {
    for (Index r = 0; r < rows;) {
      const Index segment = segment_of(b, first.row + r), end = after_segment(b, first.row, r, rows);
      std::uint64_t bits = 0;
      for_keys(b, keys, [&](Index n, Index of_key) { bits |= std::uint64_t{of_key == segment} << n; });
      for (; r < end; ++r) allowed[r] &= bits;
    }
  }

 private:
  Index segment_of(Index b, Index row) const { return integer_at(queries_, {b, row}); }
  // The first of the rows behind row r, counted from `first`, that is in another segment.
  Index after_segment(Index b, Index first, Index r, Index rows) const {
    const Index segment = segment_of(b, first + r);
    do ++r;
    while (r < rows && segment_of(b, first + r) == segment);
    return r;
  }
  // Calls f(n, segment) for key keys.begin + n, by a loop over numbers of one type.
  template <typename F>
  void for_keys(Index b, Range keys, const F& f) const {
    const auto loop = [&](const auto* segments) {
      for (Index n = 0; n < keys.size(); ++n) f(n, Index{segments[n * keys_.stride[1]]});
    };
    keys_.dtype == DType::i32 ? loop(&keys_.at<std::int32_t>({b, keys.begin}))
                              : loop(&keys_.at<std::int64_t>({b, keys.begin}));
  }

  std::array<Tensor, 2> given_;
  ConstView queries_, keys_;
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
  // The rows of a tile of the pattern are alike.
  TileCover cover(Index b, Index h, Query first, Index rows, Range keys) const override {
    const auto next = [&](Index r) { return ((first.row + r) / rows_ + 1) * rows_ - first.row; };
    return cover_of_rows(*this, b, h, first, rows, keys, next);
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

}  // namespace

Mask Mask::boolean(Tensor allowed) { return mask_of<BooleanPattern>(std::move(allowed)); }
Mask Mask::segments(Tensor of_queries, Tensor of_keys) {
  return mask_of<SegmentPattern>(std::move(of_queries), std::move(of_keys));
}
Mask Mask::tiles(Tensor open, Index rows, Index keys) { return mask_of<TilePattern>(std::move(open), rows, keys); }
Mask Mask::predicate(std::function<bool(Index b, Index h, Index i, Index j)> allows) {
  return mask_of<PredicatePattern>(std::move(allows));
}

}  // namespace heed
