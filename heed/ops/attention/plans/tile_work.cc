#include "heed/ops/attention/plans/tile_work.h"

#include <algorithm>

namespace heed {
namespace {

Index round_down(Index value, Index unit) { return value / unit * unit; }

}  // namespace

TileWork::TileWork(const AttentionProblem& c, char* scratch, Index rows, Index columns, Pass pass)
    : c_(c), score_(*tile_score(c.spec.score.kind)) {
  layout(scratch, rows, columns, pass);
}

Index TileWork::bytes(const AttentionProblem& c, Index rows, Index columns, Pass pass) {
  TileWork measured(c, nullptr, rows, columns, pass);
  return measured.layout(nullptr, rows, columns, pass);
}

// Cuts the scratch memory into what this case needs; returns how much that is.
Index TileWork::layout(char* base, Index rows, Index columns, Pass pass) {
  // A line more than the columns, so that rows do not start in the same cache set.
  stride_ = round_up(columns, kernels::kAttentionLanes) + kernels::kAttentionLanes;
  Index used = 0;
  const auto take = [&]<typename T>(T*& pointer, bool wanted, Index count) {
    if (!wanted) return;
    pointer = base == nullptr ? nullptr : reinterpret_cast<T*>(base + used);
    used += round_up(count * static_cast<Index>(sizeof(T)), 64);
  };
  const bool forward = pass == Pass::forward, backward = pass == Pass::backward;
  const bool narrow_q = c_.dtype != DType::f32;
  const bool narrow_k = !lies_as_floats(c_.k), narrow_v = c_.v && !lies_as_floats(c_.v);
  const Index area = rows * stride_, block = kernels::kGemmTileDepth;
  take(tile_, true, area);
  take(dtile_, !forward, area);
  take(bias_, c_.bias.active(), area);
  take(dbias_, backward && c_.bias.active(), area);
  take(allowed_, !c_.mask.hull_is_exact(), area);
  take(bits_, c_.dropout.active(), area);
  take(blocks_, true, c_.keys / kPatternBlock + 2);  // the smallest blocks, and what is left at both ends
  take(begin_, true, rows);
  take(end_, true, rows);
  if (score_.strip) {
    const Index strip = std::min(rows, score_.strip->rows);
    take(kept_, backward, strip * std::min(columns, score_.strip->keys) * score_.strip->floats(c_.width));
    take(strip_begin_, backward, strip);
    take(strip_end_, backward, strip);
  }
  take(stat_, true, rows);
  take(delta_, true, rows);
  take(pool_, backward, rows);
  take(q_, narrow_q, rows * c_.width);
  take(k_, narrow_k, block * c_.width);
  take(mapped_q_, score_.map != nullptr, rows * c_.width);
  take(mapped_k_, score_.map != nullptr, block * c_.width);
  take(v_, narrow_v, block * c_.value_width);
  take(out_, narrow_q && forward, rows * c_.value_width);
  take(dout_, narrow_q && backward, rows * c_.value_width);
  take(dq_, narrow_q && backward, rows * c_.width);
  take(dk_, narrow_k && backward, c_.keys * c_.width);
  take(dv_, narrow_v && backward, c_.keys * c_.value_width);
  return used;
}

std::span<const KeyBlock> TileWork::open_blocks(const RowTile& tile, bool all) {
  std::size_t count = 0;
  const bool exact = c_.mask.hull_is_exact();
  const Index size = exact ? kernels::kGemmTileDepth : kPatternBlock;
  const MaskTile open = c_.mask.tile(tile.b, tile.h, tile.rows);
  const Range hull = all ? Range{0, c_.keys} : open.hull;
  Index column = 0;
  for (Index begin = round_down(hull.begin, exact ? kernels::kAttentionLanes : size); begin < hull.end;) {
    const Range keys{begin, std::min(hull.end, round_down(begin, size) + size)};
    begin = keys.end;
    const TileCover cover = exact || all ? TileCover::some : c_.mask.cover(open, keys);
    if (cover == TileCover::none) continue;
    blocks_[count++] = {keys, column, cover == TileCover::all};
    column += keys.size();
  }
  return {blocks_, count};
}

kernels::AttentionRows TileWork::passes(const RowTile& tile, const KeyBlock* blocks, Index count) {
  kernels::AttentionRows passes;
  const Index first = count == 0 ? 0 : blocks[0].column;
  passes.rows = tile.rows.size(), passes.stride = stride_;
  passes.columns = count == 0 ? 0 : blocks[count - 1].column + blocks[count - 1].keys.size() - first;
  passes.scale = score_.scaled ? static_cast<float>(c_.scale) : 1.0f;
  passes.cap = static_cast<float>(c_.cap);
  passes.sink = c_.sink<float>(tile.h);
  passes.begin = begin_, passes.end = end_;
  passes.bias = bias_, passes.bits = bits_;
  const bool exact = c_.mask.hull_is_exact();
  if (!exact) passes.allowed = allowed_, passes.allowed_row = stride_;
  if (c_.dropout.active()) {
    passes.threshold = c_.dropout.threshold();
    passes.keep_scale = static_cast<float>(c_.dropout.scale());
  }
  for (Index r = 0; r < passes.rows; ++r) {
    const Index i = tile.rows.begin + r;
    const Range keys = exact && count > 0 ? c_.mask.keys(tile.b, tile.h, i) : Range{};
    begin_[r] = exact ? keys.begin - (count == 0 ? 0 : blocks[0].keys.begin) : 0;
    end_[r] = exact ? keys.end - (count == 0 ? 0 : blocks[0].keys.begin) : passes.columns;
    if (keys.empty() && exact) begin_[r] = end_[r] = 0;
    for (Index n = 0; n < count; ++n) {
      const KeyBlock& block = blocks[n];
      const Index at = r * stride_ + block.column - first;
      if (!exact && block.whole) std::fill_n(allowed_ + at, block.keys.size(), std::uint8_t{1});
      if (!exact && !block.whole) c_.mask.fill(tile.b, tile.h, i, block.keys, allowed_ + at);
      if (!c_.bias.active()) continue;
      std::fill_n(bias_ + at, round_up(block.keys.size(), kernels::kAttentionLanes), 0.0f);
      c_.bias.add(tile.b, tile.h, i, block.keys, bias_ + at);
    }
  }
  for (Index n = 0; n < count && c_.dropout.active(); ++n) {
    kernels::attention_dropout_bits(c_.dropout.seed(), c_.dropout.head_stream(tile.b, tile.h), tile.rows.begin,
                                    passes.rows, blocks[n].keys.begin, blocks[n].keys.size(),
                                    bits_ + blocks[n].column - first, stride_);
  }
  return passes;
}

kernels::AttentionRows TileWork::strip(const kernels::AttentionRows& passes, Range rows, Range columns) {
  kernels::AttentionRows part = passes;
  part.rows = rows.size(), part.columns = columns.size();
  part.begin = strip_begin_, part.end = strip_end_;
  for (Index r = 0; r < part.rows; ++r) {
    strip_begin_[r] = passes.begin[rows.begin + r] - columns.begin;
    strip_end_[r] = passes.end[rows.begin + r] - columns.begin;
  }
  const Index at = rows.begin * stride_ + columns.begin;
  if (part.bias != nullptr) part.bias += at;
  if (part.allowed != nullptr) part.allowed += at;
  if (part.bits != nullptr) part.bits += at;
  return part;
}

TileWork::Queries TileWork::queries(const RowTile& tile) const {
  const FloatRows given = rows_of(c_.q, tile, q_);
  return {given, mapped_rows(score_, tile.rows.size(), c_.width, given, mapped_q_)};
}

TileOperands TileWork::operands(const RowTile& tile, const Queries& q, Range keys) const {
  const FloatRows k = keys_of(tile.b, tile.h / c_.group, keys);
  return {.rows = tile.rows.size(),
          .keys = keys.size(),
          .width = c_.width,
          .q = q.mapped,
          .k = mapped_rows(score_, keys.size(), c_.width, k, mapped_k_),
          .given_q = q.given,
          .given_k = k,
          .vector = c_.spec.score.additive_vector.data<float>()};
}

}  // namespace heed
