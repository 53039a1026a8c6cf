#include "heed/ops/attention/tile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "heed/base/parallel.h"
#include "heed/kernels/attention_rows.h"
#include "heed/ops/attention/reference.h"
#include "heed/ops/attention/thread_scratch.h"

namespace heed {
namespace {

constexpr Index kBackwardRows = 64;       // fixed: the sums of dk and dv are cut here
constexpr Index kTileFloats = 96 * 1024;  // of a forward tile, which stays in L2: 384 KiB
constexpr Index kChunkWork = 1 << 20;     // multiply-adds that are worth handing to a thread

Index round_up(Index value, Index unit) { return (value + unit - 1) / unit * unit; }

// A tile's row: every key, and a line more, so that rows do not start in the same cache set.
Index tile_stride(const AttentionCase& c) {
  return round_up(c.keys, kernels::kAttentionLanes) + kernels::kAttentionLanes;
}

Index forward_rows(const AttentionCase& c) {
  return std::min(std::max<Index>(c.queries, 1), std::clamp<Index>(kTileFloats / tile_stride(c) / 8 * 8, 8, 64));
}

// What a thread works in.
struct Scratch {
  float *tile, *dtile, *stat, *delta;
  Index *begin, *end;
  std::uint16_t* bits;

  static Index bytes(const AttentionCase& c, Index rows, bool backward) {
    const Index area = rows * tile_stride(c);
    return round_up(area * 4, 64) * (backward ? 2 : 1) + (c.dropout.active() ? round_up(area * 2, 64) : 0) +
           4 * round_up(rows * 8, 64);
  }
  Scratch(char* at, const AttentionCase& c, Index rows, bool backward) {
    const Index area = rows * tile_stride(c);
    const auto take = [&](Index size) {
      char* taken = at;
      at += round_up(size, 64);
      return taken;
    };
    tile = reinterpret_cast<float*>(take(area * 4));
    dtile = backward ? reinterpret_cast<float*>(take(area * 4)) : nullptr;
    bits = c.dropout.active() ? reinterpret_cast<std::uint16_t*>(take(area * 2)) : nullptr;
    begin = reinterpret_cast<Index*>(take(rows * 8));
    end = reinterpret_cast<Index*>(take(rows * 8));
    stat = reinterpret_cast<float*>(take(rows * 8));
    delta = reinterpret_cast<float*>(take(rows * 8));
  }
};

// The keys that a tile must look at, from a multiple of the lanes on.
Range tile_keys(const AttentionCase& c, Index b, Range rows, bool all) {
  if (all) return {0, c.keys};
  const Range keys = c.mask.keys(b, rows);
  return {keys.begin / kernels::kAttentionLanes * kernels::kAttentionLanes, keys.end};
}

// Calls body(block, first column) for the blocks of keys that are not refused to every row.
template <typename Body>
void for_open_blocks(const AttentionCase& c, const Tile& tile, bool all, Body&& body) {
  for_key_blocks(tile.keys, [&](Range block) {
    const bool skip = !all && c.spec.mask.allowed && c.mask.cover(tile.b, tile.h, tile.rows, block) == TileCover::none;
    if (!skip) body(block, block.begin - tile.keys.begin);
  });
}

// The row passes' view of a tile: masks, bias, dropout.
kernels::AttentionRows tile_rows(const AttentionCase& c, const TileScore& score, const Tile& tile,
                                 const Scratch& scratch) {
  kernels::AttentionRows rows;
  rows.rows = tile.rows.size(), rows.columns = tile.keys.size(), rows.stride = tile.stride;
  rows.scale = score.scale(c), rows.cap = static_cast<float>(c.cap);
  for (Index r = 0; r < rows.rows; ++r) {
    const Range keys = c.mask.keys(tile.b, tile.rows.begin + r);
    scratch.begin[r] = keys.begin - tile.keys.begin;
    scratch.end[r] = keys.end - tile.keys.begin;
  }
  rows.begin = scratch.begin, rows.end = scratch.end;
  if (c.bias) {
    rows.bias = &c.bias.at<float>({tile.b, tile.h, tile.rows.begin, tile.keys.begin});
    rows.bias_row = c.bias.stride[2];
  }
  if (c.spec.mask.allowed) {
    const std::uint8_t* first = c.mask.dense_row(tile.b, tile.h, tile.rows.begin);
    rows.allowed = first + tile.keys.begin;
    if (rows.rows > 1) rows.allowed_row = c.mask.dense_row(tile.b, tile.h, tile.rows.begin + 1) - first;
  }
  if (c.dropout.active() && rows.columns > 0) {
    kernels::attention_dropout_bits(c.dropout.seed(), c.dropout.head_stream(tile.b, tile.h), tile.rows.begin, rows.rows,
                                    tile.keys.begin, rows.columns, scratch.bits, tile.stride);
    rows.bits = scratch.bits;
    rows.threshold = c.dropout.threshold();
    rows.keep_scale = static_cast<float>(c.dropout.scale());
  }
  return rows;
}

void clear_rows(const View& view, Index b, Index h, Range rows) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    std::fill_n(&view.at<float>({b, h, i}), view.shape[3], 0.0f);
  }
}

// Copies the tile's columns to rows of a [B, H, Lq, Lk] view, and zeros beside them.
void copy_out(const View& view, const Tile& tile, const float* from) {
  clear_rows(view, tile.b, tile.h, tile.rows);
  for (Index r = 0; r < tile.rows.size(); ++r) {
    std::copy_n(from + r * tile.stride, tile.keys.size(),
                &view.at<float>({tile.b, tile.h, tile.rows.begin + r}) + tile.keys.begin);
  }
}

// Whether what a mask refuses could turn into NaN: zero times infinity is not zero.
bool has_refused_keys(const AttentionCase& c) {
  return c.spec.mask.window || c.spec.mask.lengths || c.spec.mask.allowed || c.bias;
}

void multiply_values(const AttentionCase& c, const Tile& tile, const float* weights, const View& out) {
  bool started = false;
  for_open_blocks(c, tile, false, [&](Range keys, Index column) {
    kernels::gemm_tile({.m = tile.rows.size(),
                        .n = c.value_width,
                        .k = keys.size(),
                        .a = weights + column,
                        .a_row = tile.stride,
                        .a_col = 1,
                        .b = &c.v.at<float>({tile.b, tile.h / c.group, keys.begin}),
                        .b_row = c.v.stride[2],
                        .b_col = 1,
                        .c = &out.at<float>({tile.b, tile.h, tile.rows.begin}),
                        .c_row = out.stride[2],
                        .bias = nullptr,
                        .alpha = 1,
                        .accumulate = started});
    started = true;
  });
  if (!started) clear_rows(out, tile.b, tile.h, tile.rows);
  if (!has_refused_keys(c)) return;
  const Range rows = tile.rows;
  if (!kernels::attention_any_nan(rows.size(), c.value_width, &out.at<float>({tile.b, tile.h, rows.begin}),
                                  out.stride[2]))
    return;
  AttentionResult only_out;
  only_out.out = out;
  for (Index i = rows.begin; i < rows.end; ++i) {
    if (kernels::attention_any_nan(1, c.value_width, &out.at<float>({tile.b, tile.h, i}), 0)) {
      reference_forward_row(c, only_out, tile.b, tile.h, i);
    }
  }
}

void forward_tile(const TileScore& score, const AttentionCase& c, const AttentionResult& result, Index b, Index h,
                  Range rows, const Scratch& scratch) {
  const bool all = bool{result.scores};
  const Tile tile{b, h, rows, tile_keys(c, b, rows, all), tile_stride(c)};
  for_open_blocks(c, tile, all, [&](Range keys, Index column) {
    score.products(c, {b, h, rows, keys, tile.stride}, scratch.tile + column);
  });
  kernels::AttentionRows passes = tile_rows(c, score, tile, scratch);
  if (result.scores) {
    kernels::attention_score_rows(passes, scratch.tile);
    copy_out(result.scores, tile, scratch.tile);
    passes.scale = 1, passes.cap = 0;
  }
  kernels::attention_softmax_rows(passes, scratch.tile, scratch.stat);
  if (result.row_stat) {
    for (Index r = 0; r < rows.size(); ++r) result.row_stat.at<float>({b, h, rows.begin + r}) = scratch.stat[r];
  }
  if (result.weights) copy_out(result.weights, tile, scratch.tile);
  if (!result.out) return;
  if (passes.bits != nullptr) kernels::attention_drop_rows(passes, scratch.tile);
  multiply_values(c, tile, scratch.tile, result.out);
}

// dtile = dout . v for the tile's keys.
void weight_gradients(const AttentionCase& c, const Tile& tile, const ConstView& dout, float* dtile) {
  for_open_blocks(c, tile, false, [&](Range keys, Index column) {
    deep_gemm_tile({.m = tile.rows.size(),
                    .n = keys.size(),
                    .k = c.value_width,
                    .a = &dout.at<float>({tile.b, tile.h, tile.rows.begin}),
                    .a_row = dout.stride[2],
                    .a_col = 1,
                    .b = &c.v.at<float>({tile.b, tile.h / c.group, keys.begin}),
                    .b_row = 1,
                    .b_col = c.v.stride[2],
                    .c = dtile + column,
                    .c_row = tile.stride,
                    .bias = nullptr,
                    .alpha = 1,
                    .accumulate = false});
  });
}

// dv += weights^T dout.
void value_gradients(const AttentionCase& c, const Tile& tile, const float* weights, const ConstView& dout,
                     const View& dv) {
  kernels::gemm_tile({.m = tile.keys.size(),
                      .n = c.value_width,
                      .k = tile.rows.size(),
                      .a = weights,
                      .a_row = 1,
                      .a_col = tile.stride,
                      .b = &dout.at<float>({tile.b, tile.h, tile.rows.begin}),
                      .b_row = dout.stride[2],
                      .b_col = 1,
                      .c = &dv.at<float>({tile.b, tile.h / c.group, tile.keys.begin}),
                      .c_row = dv.stride[2],
                      .bias = nullptr,
                      .alpha = 1,
                      .accumulate = true});
}

void backward_tile(const TileScore& score, const AttentionCase& c, const AttentionSaved& saved,
                   const AttentionGrad& grad, Index b, Index h, Range rows, float* dvector, const Scratch& scratch) {
  const Tile tile{b, h, rows, tile_keys(c, b, rows, false), tile_stride(c)};
  if (grad.dq) clear_rows(grad.dq, b, h, rows);
  if (tile.keys.empty()) return;
  for_open_blocks(c, tile, false, [&](Range keys, Index column) {
    score.products(c, {b, h, rows, keys, tile.stride}, scratch.tile + column);
  });
  weight_gradients(c, tile, saved.dout, scratch.dtile);
  kernels::attention_row_dots(rows.size(), c.value_width, &saved.dout.at<float>({b, h, rows.begin}),
                              saved.dout.stride[2], &saved.out.at<float>({b, h, rows.begin}), saved.out.stride[2],
                              scratch.delta);
  for (Index r = 0; r < rows.size(); ++r) scratch.stat[r] = saved.row_stat.at<float>({b, h, rows.begin + r});

  const kernels::AttentionRows passes = tile_rows(c, score, tile, scratch);
  float* dbias = nullptr;
  Index dbias_row = 0;
  if (grad.dbias) {
    const auto along = [&](int axis, Index index) { return grad.dbias.shape[axis] == 1 ? 0 : index; };
    dbias = &grad.dbias.at<float>({along(0, b), along(1, h), along(2, rows.begin), tile.keys.begin});
    dbias_row = grad.dbias.shape[2] == 1 ? 0 : grad.dbias.stride[2];
  }
  kernels::attention_softmax_backward_rows(passes, scratch.stat, scratch.delta, scratch.tile, scratch.dtile, dbias,
                                           dbias_row);
  if (grad.dv) value_gradients(c, tile, scratch.tile, saved.dout, grad.dv);
  if (grad.dq || grad.dk || dvector != nullptr) score.gradients(c, tile, scratch.dtile, grad, dvector);
}

bool heads_have_nan(const ConstView& view, Index b, Index first_head, Index heads) {
  if (!view) return false;
  for (Index h = first_head; h < first_head + heads; ++h) {
    if (kernels::attention_any_nan(view.shape[2], view.shape[3], &view.at<float>({b, h}), view.stride[2])) return true;
  }
  return false;
}

// All that flows through one key/value head.
void backward_group(const TileScore& score, const AttentionCase& c, const AttentionSaved& saved,
                    const AttentionGrad& grad, Index b, Index g, float* dvector, const Scratch& scratch) {
  if (grad.dk) clear_rows(grad.dk, b, g, {0, c.keys});
  if (grad.dv) clear_rows(grad.dv, b, g, {0, c.keys});
  const Index first = g * c.group;
  for (Index h = first; h < first + c.group; ++h) {
    for (Index i = 0; i < c.queries; i += kBackwardRows) {
      backward_tile(score, c, saved, grad, b, h, {i, std::min(c.queries, i + kBackwardRows)}, dvector, scratch);
    }
  }
  if (!has_refused_keys(c)) return;
  const bool spoilt = heads_have_nan(grad.dq, b, first, c.group) || heads_have_nan(grad.dk, b, g, 1) ||
                      heads_have_nan(grad.dv, b, g, 1);
  if (!spoilt || heads_have_nan(saved.dout, b, first, c.group)) return;  // a NaN from above propagates as it will
  AttentionGrad again = grad;  // what accumulates is masked by the kernels, and was right
  again.dbias = {}, again.dadditive_vector = {};
  reference_backward_group(c, saved, again, b, g);
}

}  // namespace

void deep_gemm_tile(kernels::GemmTile tile) {
  const Index depth = tile.k;
  tile.k = std::min(depth, kernels::kGemmTileDepth);
  kernels::gemm_tile(tile);
  for (Index p = tile.k; p < depth; p += tile.k) {
    tile.a += tile.k * tile.a_col;
    tile.b += tile.k * tile.b_row;
    tile.k = std::min(depth - p, kernels::kGemmTileDepth);
    tile.accumulate = true;
    kernels::gemm_tile(tile);
  }
}

void tiled_forward(const TileScore& score, const AttentionCase& c, const AttentionResult& result,
                   Workspace& workspace) {
  const Index rows = forward_rows(c), tiles = (c.queries + rows - 1) / rows;
  const Index work = rows * std::max<Index>(c.keys, 1) * (c.width + c.value_width);
  ThreadScratch slots(workspace, Scratch::bytes(c, rows, false));
  parallel_for(c.batch * c.heads * tiles, std::max<Index>(kChunkWork / work, 1), [&](Index begin, Index end) {
    const ThreadScratch::Slot slot(slots);
    const Scratch scratch(slot.data(), c, rows, false);
    for (Index unit = begin; unit < end; ++unit) {
      const Index head = unit / tiles, first = unit % tiles * rows;
      forward_tile(score, c, result, head / c.heads, head % c.heads, {first, std::min(c.queries, first + rows)},
                   scratch);
    }
  });
}

// Key/value heads are independent, but for a bias that several of them share: those run one after another.
void tiled_backward(const TileScore& score, const AttentionCase& c, const AttentionSaved& saved,
                    const AttentionGrad& grad, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const bool batch_in_order = grad.dbias && grad.dbias.shape[0] == 1,
             heads_in_order = grad.dbias && grad.dbias.shape[1] == 1;
  const Index batches = batch_in_order ? 1 : c.batch, groups = heads_in_order ? 1 : c.key_heads;
  const Index rows = std::min(std::max<Index>(c.queries, 1), kBackwardRows);
  // One sum for each key/value head, added in order at the end.
  const bool vector = bool{grad.dadditive_vector};
  float* dvectors = vector ? workspace.take<float>(c.batch * c.key_heads * c.width) : nullptr;
  if (vector) std::fill_n(dvectors, c.batch * c.key_heads * c.width, 0.0f);

  ThreadScratch slots(workspace, Scratch::bytes(c, rows, true));
  const Index work =
      std::max<Index>(c.queries, 1) * c.group * std::max<Index>(c.keys, 1) * (c.width + c.value_width) * 2;
  parallel_for(batches * groups, std::max<Index>(kChunkWork / work, 1), [&](Index begin, Index end) {
    const ThreadScratch::Slot slot(slots);
    const Scratch scratch(slot.data(), c, rows, true);
    for (Index unit = begin; unit < end; ++unit) {
      const Index b0 = unit / groups, g0 = unit % groups;
      for (Index b = b0; b < (batch_in_order ? c.batch : b0 + 1); ++b)
        for (Index g = g0; g < (heads_in_order ? c.key_heads : g0 + 1); ++g) {
          float* dvector = vector ? dvectors + (b * c.key_heads + g) * c.width : nullptr;
          backward_group(score, c, saved, grad, b, g, dvector, scratch);
        }
    }
  });
  if (!vector) return;
  for (Index unit = 0; unit < c.batch * c.key_heads; ++unit)
    for (Index d = 0; d < c.width; ++d) grad.dadditive_vector.at<float>({d}) += dvectors[unit * c.width + d];
}

}  // namespace heed
