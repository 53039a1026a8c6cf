#include "heed/ops/attention/plans/tile_gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/ops/attention/plans/repair.h"

namespace heed {

TileGradients::TileGradients(const AttentionProblem& problem, const AttentionSaved& given, const AttentionGrad& wanted,
                             TileWork& thread)
    : score_(*tile_score(problem.spec.score.kind)),
      normaliser_(*tile_normaliser(problem.spec.normaliser.kind)),
      c_(problem),
      saved_(given),
      grad_(wanted),
      work_(thread) {}

Index TileGradients::block_keys(const AttentionProblem& problem) {
  return tile_score(problem.spec.score.kind)->strip ? kPatternBlock : kernels::kGemmTileDepth;
}

void TileGradients::open_head(Index b, Index g) {
  b_ = b, g_ = g;
  dk_ = sums_of(grad_.dk, work_.dk_sums());
  dv_ = sums_of(grad_.dv, work_.dv_sums());
}

void TileGradients::clear_head() {
  if (grad_.dk) clear(dk_, c_.keys, c_.width);
  if (grad_.dv) clear(dv_, c_.keys, c_.value_width);
}

void TileGradients::close_head() {
  map_key_gradients();
  store_sums(grad_.dk, dk_);
  store_sums(grad_.dv, dv_);
  repair_gradients(c_, saved_, grad_, b_, g_);
}

// Where f32 sums for the head's rows are made: in place, or in scratch where the gradient is of 16 bits.
FloatRows TileGradients::sums_of(const View& view, float* scratch) {
  if (!view) return {};
  return view.dtype == DType::f32 ? FloatRows{&view.at<float>({b_, g_}), view.stride[2]}
                                  : FloatRows{scratch, view.shape[3]};
}
void TileGradients::store_sums(const View& view, FloatRows sums) const {
  if (view && view.dtype != DType::f32) store_rows(sums, view, b_, g_, {0, view.shape[2]});
}

// From the gradients of the rows that the score made of the keys to those of the keys.
void TileGradients::map_key_gradients() {
  if (!grad_.dk || score_.map_gradients == nullptr) return;
  for (Index begin = 0; begin < c_.keys; begin += kernels::kGemmTileDepth) {
    const Range keys{begin, std::min(c_.keys, begin + kernels::kGemmTileDepth)};
    score_.map_gradients(keys.size(), c_.width, work_.keys_of(b_, g_, keys), {dk_.data + begin * dk_.row, dk_.row});
  }
}

void TileGradients::open_rows(const RowTile& tile) {
  tile_ = tile;
  block_is_read_ = false;
  dq_ = {};
  if (grad_.dq) {
    dq_ = c_.dtype == DType::f32 ? FloatRows{&grad_.dq.at<float>({tile.b, tile.h, tile.rows.begin}), grad_.dq.stride[2]}
                                 : FloatRows{work_.dq_scratch(), c_.width};
  }
  q_ = work_.queries(tile), dout_ = work_.rows_of(saved_.dout, tile, work_.dout_scratch());
  blocks_ = work_.open_blocks(tile, false);
  for (Index r = 0; r < tile.rows.size(); ++r) {
    work_.stat()[r] = saved_.row_stat.at<float>({tile.b, tile.h, tile.rows.begin + r});
  }
}

void TileGradients::begin_rows() {
  if (grad_.dq) clear(dq_, tile_.rows.size(), c_.width);
  fill_pool();
  const float sink = c_.sink<float>(tile_.h);
  double dsink = 0;
  for (Index r = 0; r < tile_.rows.size(); ++r) {
    const bool dead = work_.stat()[r] == -std::numeric_limits<float>::infinity(), flows = saved_.drow_stat && !dead;
    const float dstat = flows ? saved_.drow_stat.at<float>({tile_.b, tile_.h, tile_.rows.begin + r}) : 0.0f;
    work_.delta()[r] = normaliser_.delta(work_.pool()[r], dstat);
    if (grad_.dsinks && !dead) dsink -= std::exp(double{sink} - work_.stat()[r]) * work_.delta()[r];
  }
  if (grad_.dsinks) grad_.dsinks.at<float>({tile_.h}) += static_cast<float>(dsink);
}

// Sums what the rows' keys give back together. For a softmax that is dout . out, but for an `out` that was rounded to
// 16 bits: there a difference of it and dP that should vanish would not, and it is summed over the keys, too.
void TileGradients::fill_pool() {
  const Index rows = tile_.rows.size();
  std::fill_n(work_.pool(), rows, kernels::RowPool{});
  if (normaliser_.flows_as_output && c_.dtype == DType::f32) {
    const float* out = &saved_.out.at<float>({tile_.b, tile_.h, tile_.rows.begin});
    kernels::attention_row_dots(rows, c_.value_width, dout_.data, dout_.row, out, saved_.out.stride[2], work_.delta());
    for (Index r = 0; r < rows; ++r) work_.pool()[r].flow = work_.delta()[r];
  } else if (normaliser_.pool != nullptr) {
    for (const KeyBlock& block : blocks_) {
      score_.products(work_.operands(tile_, q_, block.keys), work_.tile(), work_.stride(), nullptr);
      read_block(block);
      normaliser_.pool(passes_, work_.stat(), work_.tile(), work_.dtile(), work_.pool());
    }
    block_is_read_ = blocks_.size() == 1;
  }
}

void TileGradients::add_keys(Range keys, float* dvector) {
  for (KeyBlock block : blocks_) {
    const Range within = intersect(block.keys, keys);
    if (within.empty()) continue;
    if (within.size() < block.keys.size()) block_is_read_ = false;
    block.keys = within;
    add_block(block, dvector);
  }
}

void TileGradients::end_rows() {
  if (!grad_.dq) return;
  if (score_.map_gradients != nullptr) score_.map_gradients(tile_.rows.size(), c_.width, q_.given, dq_);
  if (c_.dtype != DType::f32) store_rows(dq_, grad_.dq, tile_.b, tile_.h, tile_.rows);
}

// Leaves the gradients of the block's weights, dout . v, beside the tile.
void TileGradients::read_block(const KeyBlock& block) {
  const FloatRows values = work_.values_of(tile_.b, tile_.h / c_.group, block.keys);
  kernels::in_chains({.m = tile_.rows.size(),
                      .n = block.keys.size(),
                      .k = c_.value_width,
                      .a = {dout_.data, dout_.row},
                      .b = {values.data, 1, values.row},
                      .c = work_.dtile(),
                      .c_row = work_.stride()},
                     kernels::gemm_tile);
  passes_ = work_.passes(tile_, &block, 1);
}

void TileGradients::add_block(const KeyBlock& block, float* dvector) {
  const Index rows = tile_.rows.size(), stride = work_.stride();
  const TileOperands operands = work_.operands(tile_, q_, block.keys);
  TileFlows flows{.dq = dq_, .dk = dk_, .dvector = dvector};
  if (dk_.data != nullptr) flows.dk.data += block.keys.begin * dk_.row;
  if (!block_is_read_) read_block(block);
  if (score_.strip) {
    add_strips(operands, block.keys.begin, flows);
  } else {
    if (!block_is_read_) score_.products(operands, work_.tile(), stride, nullptr);
    add_products(operands, passes_, 0, 0, flows);
  }
  block_is_read_ = false;
  for (Index r = 0; c_.bias.active() && r < rows; ++r) {
    c_.bias.add_gradient(tile_.b, tile_.h, tile_.rows.begin + r, block.keys, work_.dbias() + r * stride, grad_);
  }
  // dv += weights^T dout.
  if (grad_.dv) {
    kernels::gemm_tile({.m = block.keys.size(),
                        .n = c_.value_width,
                        .k = rows,
                        .a = {work_.tile(), 1, stride},
                        .b = {dout_.data, dout_.row},
                        .c = dv_.data + block.keys.begin * dv_.row,
                        .c_row = dv_.row,
                        .accumulate = true});
  }
}

// Keys outside, since what is added to theirs stays in cache while all rows meet them. Strips are cut where they are
// whatever the block, for the sum of dvector.
void TileGradients::add_strips(const TileOperands& block, Index first_key, const TileFlows& flows) {
  for (Index j = 0; j < block.keys;) {
    const Index end = std::min(block.keys, j + score_.strip->keys - (first_key + j) % score_.strip->keys);
    for (Index r = 0; r < block.rows; r += score_.strip->rows) {
      TileOperands strip = block;
      strip.rows = std::min(score_.strip->rows, block.rows - r), strip.keys = end - j;
      for (FloatRows* q : {&strip.q, &strip.given_q}) q->data += r * q->row;
      for (FloatRows* k : {&strip.k, &strip.given_k}) k->data += j * k->row;
      TileFlows to = flows;
      if (to.dq.data != nullptr) to.dq.data += r * to.dq.row;
      if (to.dk.data != nullptr) to.dk.data += j * to.dk.row;
      score_.products(strip, work_.tile() + r * work_.stride() + j, work_.stride(), work_.kept());
      add_products(strip, work_.strip(passes_, {r, r + strip.rows}, {j, end}), r, j, to);
    }
    j = end;
  }
}

// Turns the products from row r and column j of the tile on into weights after dropout, and what is beside them into
// the gradients of the products, which it adds to those of the rows.
void TileGradients::add_products(const TileOperands& operands, const kernels::AttentionRows& passes, Index r, Index j,
                                 const TileFlows& to) {
  const Index stride = work_.stride(), at = r * stride + j;
  float *const dproducts = work_.dtile() + at, *const dbias = c_.bias.active() ? work_.dbias() + at : nullptr;
  normaliser_.gradients(passes, work_.stat() + r, work_.delta() + r, work_.tile() + at, dproducts, dbias);
  if (!grad_.dq && !grad_.dk && to.dvector == nullptr) return;
  score_.gradients(operands, work_.kept(), dproducts, stride, to);
}

}  // namespace heed
