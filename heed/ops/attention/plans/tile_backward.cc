#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/thread_scratch.h"
#include "heed/ops/attention/plans/repair.h"
#include "heed/ops/attention/plans/tile.h"
#include "heed/ops/attention/plans/tile_work.h"

namespace heed {
namespace {

constexpr Index kBackwardRows = 64;    // fixed: the sums of dk and dv are cut here
constexpr Index kChunkWork = 1 << 20;  // multiply-adds that are worth handing to a thread

void clear(FloatRows rows, Index count, Index width) {
  for (Index r = 0; r < count; ++r) std::fill_n(rows.data + r * rows.row, width, 0.0f);
}

// All that flows through one key/value head, a tile of rows and a block of keys at a time.
class BackwardHead {
 public:
  BackwardHead(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
               TileWork& thread)
      : score_(*tile_score(problem.spec.score.kind)),
        normaliser_(*tile_normaliser(problem.spec.normaliser.kind)),
        c(problem),
        saved(given),
        grad(wanted),
        work_(thread) {}

  // `dvector` [D]: where the gradient of the additive vector is added, or null.
  void compute(Index b, Index g, float* dvector) {
    dvector_ = dvector;
    dk_ = sums_of(grad.dk, work_.dk_sums(), b, g);
    dv_ = sums_of(grad.dv, work_.dv_sums(), b, g);
    const Index first = g * c.group;
    for (Index h = first; h < first + c.group; ++h) {
      for (Index i = 0; i < c.queries; i += kBackwardRows) {
        add_tile({b, h, {i, std::min(c.queries, i + kBackwardRows)}});
      }
    }
    map_key_gradients(b, g);
    store_sums(grad.dk, dk_, b, g);
    store_sums(grad.dv, dv_, b, g);
    repair_gradients(c, saved, grad, b, g);
  }

 private:
  // Where f32 sums for a head's rows are made: in place, or in scratch where the gradient is of 16 bits.
  FloatRows sums_of(const View& view, float* scratch, Index b, Index g) {
    if (!view) return {};
    const FloatRows sums = view.dtype == DType::f32 ? FloatRows{&view.at<float>({b, g}), view.stride[2]}
                                                    : FloatRows{scratch, view.shape[3]};
    clear(sums, view.shape[2], view.shape[3]);
    return sums;
  }
  void store_sums(const View& view, FloatRows sums, Index b, Index g) {
    if (!view || view.dtype == DType::f32) return;
    for (Index j = 0; j < view.shape[2]; ++j)
      store_row(sums.data + j * sums.row, view.shape[3], view, view.offset({b, g, j}));
  }

  // Sums what the row's keys give back together. For a softmax that is dout . out, but for an `out` that was rounded to
  // 16 bits: there a difference of it and dP that should vanish would not, and it is summed over the keys, too.
  void fill_pool(const RowTile& tile, FloatRows q, FloatRows dout, std::span<const KeyBlock> blocks) {
    const Index rows = tile.rows.size();
    std::fill_n(work_.pool(), rows, kernels::RowPool{});
    if (normaliser_.flows_as_output && c.dtype == DType::f32) {
      const float* out = &saved.out.at<float>({tile.b, tile.h, tile.rows.begin});
      kernels::attention_row_dots(rows, c.value_width, dout.data, dout.row, out, saved.out.stride[2], work_.delta());
      for (Index r = 0; r < rows; ++r) work_.pool()[r].flow = work_.delta()[r];
    } else if (normaliser_.pool != nullptr) {
      for (const KeyBlock& block : blocks) {
        score_.products(work_.operands(tile, q, block.keys), work_.tile(), work_.stride(), nullptr);
        read_block(tile, block, dout);
        normaliser_.pool(passes_, work_.stat(), work_.tile(), work_.dtile(), work_.pool());
      }
      block_is_read_ = blocks.size() == 1;
    }
  }

  // From the gradients of the rows that the score made of the keys to those of the keys.
  void map_key_gradients(Index b, Index g) {
    if (!grad.dk || score_.map == nullptr) return;
    for (Index begin = 0; begin < c.keys; begin += kernels::kGemmTileDepth) {
      const Range keys{begin, std::min(c.keys, begin + kernels::kGemmTileDepth)};
      score_.map_gradients(keys.size(), c.width, work_.keys_of(b, g, keys), {dk_.data + begin * dk_.row, dk_.row});
    }
  }

  void read_stat(const RowTile& tile) {
    for (Index r = 0; r < tile.rows.size(); ++r) {
      work_.stat()[r] = saved.row_stat.at<float>({tile.b, tile.h, tile.rows.begin + r});
    }
  }

  // Fills delta, and adds the gradient of the sink, which goes by it.
  void read_delta(const RowTile& tile) {
    const float sink = c.sink<float>(tile.h);
    double dsink = 0;
    for (Index r = 0; r < tile.rows.size(); ++r) {
      const bool dead = work_.stat()[r] == -std::numeric_limits<float>::infinity(), flows = saved.drow_stat && !dead;
      const float dstat = flows ? saved.drow_stat.at<float>({tile.b, tile.h, tile.rows.begin + r}) : 0.0f;
      work_.delta()[r] = normaliser_.delta(work_.pool()[r], dstat);
      if (grad.dsinks && !dead) dsink -= std::exp(double{sink} - work_.stat()[r]) * work_.delta()[r];
    }
    if (grad.dsinks) grad.dsinks.at<float>({tile.h}) += static_cast<float>(dsink);
  }

  void add_tile(const RowTile& tile) {
    FloatRows dq;
    if (grad.dq) {
      dq = c.dtype == DType::f32 ? FloatRows{&grad.dq.at<float>({tile.b, tile.h, tile.rows.begin}), grad.dq.stride[2]}
                                 : FloatRows{work_.dq_scratch(), c.width};
      clear(dq, tile.rows.size(), c.width);
    }
    const FloatRows q = work_.mapped_q(tile), dout = work_.rows_of(saved.dout, tile, work_.dout_scratch());
    const std::span<const KeyBlock> blocks = work_.open_blocks(tile, false);
    read_stat(tile);
    fill_pool(tile, q, dout, blocks);
    read_delta(tile);
    for (const KeyBlock& block : blocks) add_block(tile, block, q, dout, dq);
    if (grad.dq && score_.map != nullptr) score_.map_gradients(tile.rows.size(), c.width, work_.q_rows(tile), dq);
    for (Index r = 0; grad.dq && c.dtype != DType::f32 && r < tile.rows.size(); ++r) {
      store_row(dq.data + r * dq.row, c.width, grad.dq, grad.dq.offset({tile.b, tile.h, tile.rows.begin + r}));
    }
  }

  // Leaves the gradients of the block's weights, dout . v, beside the tile.
  void read_block(const RowTile& tile, const KeyBlock& block, FloatRows dout) {
    const FloatRows values = work_.values_of(tile.b, tile.h / c.group, block.keys);
    kernels::in_chains({.m = tile.rows.size(),
                        .n = block.keys.size(),
                        .k = c.value_width,
                        .a = {dout.data, dout.row},
                        .b = {values.data, 1, values.row},
                        .c = work_.dtile(),
                        .c_row = work_.stride()},
                       kernels::gemm_tile);
    passes_ = work_.passes(tile, &block, 1);
  }

  void add_block(const RowTile& tile, const KeyBlock& block, FloatRows q, FloatRows dout, FloatRows dq) {
    const Index rows = tile.rows.size(), stride = work_.stride();
    const TileOperands operands = work_.operands(tile, q, block.keys);
    TileFlows flows{.dq = dq, .dk = dk_, .dvector = dvector_};
    if (dk_.data != nullptr) flows.dk.data += block.keys.begin * dk_.row;
    if (!block_is_read_) read_block(tile, block, dout);
    if (score_.strip) {
      add_strips(operands, flows);
    } else {
      if (!block_is_read_) score_.products(operands, work_.tile(), stride, nullptr);
      add_products(operands, passes_, 0, 0, flows);
    }
    block_is_read_ = false;
    for (Index r = 0; c.bias.active() && r < rows; ++r) {
      c.bias.add_gradient(tile.b, tile.h, tile.rows.begin + r, block.keys, work_.dbias() + r * stride, grad);
    }
    // dv += weights^T dout.
    if (grad.dv) {
      kernels::gemm_tile({.m = block.keys.size(),
                          .n = c.value_width,
                          .k = rows,
                          .a = {work_.tile(), 1, stride},
                          .b = {dout.data, dout.row},
                          .c = dv_.data + block.keys.begin * dv_.row,
                          .c_row = dv_.row,
                          .accumulate = true});
    }
  }

  // Keys outside, since what is added to theirs stays in cache while all rows meet them.
  void add_strips(const TileOperands& block, const TileFlows& flows) {
    for (Index j = 0; j < block.keys; j += score_.strip->keys)
      for (Index r = 0; r < block.rows; r += score_.strip->rows) {
        TileOperands strip = block;
        strip.rows = std::min(score_.strip->rows, block.rows - r), strip.q.data += r * strip.q.row;
        strip.keys = std::min(score_.strip->keys, block.keys - j), strip.k.data += j * strip.k.row;
        TileFlows to = flows;
        if (to.dq.data != nullptr) to.dq.data += r * to.dq.row;
        if (to.dk.data != nullptr) to.dk.data += j * to.dk.row;
        score_.products(strip, work_.tile() + r * work_.stride() + j, work_.stride(), work_.kept());
        add_products(strip, work_.strip(passes_, {r, r + strip.rows}, {j, j + strip.keys}), r, j, to);
      }
  }

  // Turns the products from row r and column j of the tile on into weights after dropout, and what is beside them into
  // the gradients of the products, which it adds to those of the rows.
  void add_products(const TileOperands& operands, const kernels::AttentionRows& passes, Index r, Index j,
                    const TileFlows& to) {
    const Index stride = work_.stride(), at = r * stride + j;
    float *const dproducts = work_.dtile() + at, *const dbias = c.bias.active() ? work_.dbias() + at : nullptr;
    normaliser_.gradients(passes, work_.stat() + r, work_.delta() + r, work_.tile() + at, dproducts, dbias);
    if (!grad.dq && !grad.dk && dvector_ == nullptr) return;
    score_.gradients(operands, work_.kept(), dproducts, stride, to);
  }

  const TileScore& score_;
  const kernels::AttentionNormaliser& normaliser_;
  const AttentionProblem& c;
  const AttentionSaved& saved;
  const AttentionGrad& grad;
  TileWork& work_;
  FloatRows dk_, dv_;
  float* dvector_ = nullptr;
  kernels::AttentionRows passes_{};  // of the block that was read last
  bool block_is_read_ = false;       // the only block of the tile at work, for the pool
};

}  // namespace

// Key/value heads are independent, but for a parameter's gradient that several of them share: those run one after
// another.
void tiled_backward(const AttentionProblem& c, const AttentionSaved& saved, const AttentionGrad& grad,
                    Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const auto shared = [](const View& gradient, int axis) { return gradient && gradient.shape[axis] == 1; };
  const bool batch_in_order = shared(grad.dbias, 0) || shared(grad.dcentre, 0) || grad.dsinks || grad.drelative;
  const bool heads_in_order = shared(grad.dbias, 1) || shared(grad.dcentre, 1);
  const Index batches = batch_in_order ? 1 : c.batch, groups = heads_in_order ? 1 : c.key_heads;
  const Index rows = std::min(std::max<Index>(c.queries, 1), kBackwardRows);
  const Index columns = std::min(c.keys, kernels::kGemmTileDepth);
  // One sum for each key/value head, added in order at the end.
  const bool vector = bool{grad.dadditive_vector};
  float* dvectors = vector ? workspace.take<float>(c.batch * c.key_heads * c.width) : nullptr;
  if (vector) std::fill_n(dvectors, c.batch * c.key_heads * c.width, 0.0f);

  const double work = static_cast<double>(c.queries * c.group) * static_cast<double>(c.keys) *
                      static_cast<double>(c.width + c.value_width) * 2;
  const Index bytes = TileWork::bytes(c, rows, columns, TileWork::Pass::backward), grain = grain_of(work, kChunkWork);
  parallel_for_with_scratch(workspace, bytes, batches * groups, grain, [&](Index begin, Index end, char* memory) {
    TileWork thread(c, memory, rows, columns, TileWork::Pass::backward);
    BackwardHead head(c, saved, grad, thread);
    for (Index unit = begin; unit < end; ++unit) {
      const Index b0 = unit / groups, g0 = unit % groups;
      for (Index b = b0; b < (batch_in_order ? c.batch : b0 + 1); ++b)
        for (Index g = g0; g < (heads_in_order ? c.key_heads : g0 + 1); ++g) {
          head.compute(b, g, vector ? dvectors + (b * c.key_heads + g) * c.width : nullptr);
        }
    }
  });
  if (!vector) return;
  for (Index unit = 0; unit < c.batch * c.key_heads; ++unit)
    for (Index d = 0; d < c.width; ++d) grad.dadditive_vector.at<float>({d}) += dvectors[unit * c.width + d];
}

}  // namespace heed
