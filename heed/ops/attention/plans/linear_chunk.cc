#include "heed/ops/attention/plans/linear_chunk.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "heed/ops/attention/plans/tile.h"

namespace heed {
namespace {

bool all_finite(const float* x, Index count) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t largest = 0;
  for (Index n = 0; n < count; ++n) largest = std::max(largest, std::bit_cast<std::uint32_t>(x[n]) & kExponent);
  return largest < kExponent;
}

}  // namespace

Range LinearRows::chunk_keys(Index b, Index chunk) const {
  const Index seen = keys(b), begin = std::min(seen, chunk * kLinearChunk);
  return {begin, std::min(seen, begin + kLinearChunk)};
}

Index LinearRows::first(Index b, Index chunks) const {
  Index low = 0, high = c.queries;
  while (low < high) {
    const Index middle = (low + high) / 2, seen = end(b, middle);
    seen > 0 && whole_chunks(seen) >= chunks ? high = middle : low = middle + 1;
  }
  return low;
}

LinearWork::LinearWork(const AttentionProblem& problem, const ScoreFeatures<float>& features, char* scratch,
                       bool backward)
    : c(problem), features_(features), seen_(problem), columns_(problem.value_width + 1) {
  layout(scratch, backward);
}

Index LinearWork::bytes(const AttentionProblem& c, const ScoreFeatures<float>& features, bool backward) {
  LinearWork measured(c, features, nullptr, backward);
  return measured.layout(nullptr, backward);
}

// Cuts the scratch memory into what this case needs; returns how much that is.
Index LinearWork::layout(char* base, bool backward) {
  Index used = 0;
  const auto take = [&](float*& pointer, bool wanted, Index count) {
    if (!wanted) return;
    pointer = base == nullptr ? nullptr : reinterpret_cast<float*>(base + used);
    used += (count * static_cast<Index>(sizeof(float)) + 63) / 64 * 64;
  };
  take(state_, true, c.features * columns_);
  take(keys_, true, kLinearChunk * c.features);
  take(values_, true, kLinearChunk * columns_);
  take(queries_, true, kLinearChunk * c.features);
  take(rows_, true, kLinearChunk * columns_);
  take(products_, true, kLinearChunk * kLinearChunk);
  take(dproducts_, backward, kLinearChunk * kLinearChunk);
  take(dfeatures_, backward, kLinearChunk * c.features);
  take(dvalues_, backward, kLinearChunk * c.value_width);
  take(out_, backward, c.value_width);
  take(input_, true, c.width);
  take(dinput_, backward, c.width);
  return used;
}

void LinearWork::load_keys(Index b, Index g, Range keys) const {
  for (Index j = keys.begin; j < keys.end; ++j) {
    const Index r = j - keys.begin;
    c.k.load(b, g, j, input_);
    features_.map(input_, keys_ + r * c.features);
    if (c.v) c.v.load(b, g, j, values_ + r * columns_);
    values_[r * columns_ + c.value_width] = 1;
  }
}

void LinearWork::load_queries(const LinearTile& tile) const {
  for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
    load_row(c.q, c.q.offset({tile.b, tile.h, i}), c.width, input_);
    features_.map(input_, queries_ + (i - tile.rows.begin) * c.features);
  }
}

void LinearWork::add_to_state(Index count, const float* features, const float* values) const {
  kernels::gemm_tile({.m = c.features,
                      .n = columns_,
                      .k = count,
                      .a = {features, 1, c.features},
                      .b = {values, columns_},
                      .c = state_,
                      .c_row = columns_,
                      .accumulate = true});
}

void LinearWork::multiply_queries_by_keys(const LinearTile& tile) const {
  kernels::in_chains({.m = tile.rows.size(),
                      .n = tile.keys.size(),
                      .k = c.features,
                      .a = {queries_, c.features},
                      .b = {keys_, 1, c.features},
                      .c = products_,
                      .c_row = kLinearChunk},
                     kernels::gemm_tile);
  clear_unseen(tile, products_);
}

void LinearWork::multiply_queries(const LinearTile& tile, bool has_state) const {
  if (has_state) {
    kernels::in_chains({.m = tile.rows.size(),
                        .n = columns_,
                        .k = c.features,
                        .a = {queries_, c.features},
                        .b = {state_, columns_},
                        .c = rows_,
                        .c_row = columns_},
                       kernels::gemm_tile);
  }
  if (tile.keys.empty()) return;
  multiply_queries_by_keys(tile);
  add_keys(tile, products_, values_, columns_, rows_, has_state);
}

void LinearWork::clear_unseen(const LinearTile& tile, float* matrix) const {
  for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
    const Index seen = seen_.end(tile.b, i) - tile.keys.begin;
    float* row = matrix + (i - tile.rows.begin) * kLinearChunk;
    std::fill(row + seen, row + tile.keys.size(), 0.0f);
  }
}

// A zero of a refused key times a NaN or an infinity would count: where there is one, each row takes its own keys
// alone, which gives the same bits.
void LinearWork::add_keys(const LinearTile& tile, const float* a, const float* b, Index width, float* to,
                          bool accumulate) const {
  kernels::GemmTile product{.m = tile.rows.size(),
                            .n = width,
                            .k = tile.keys.size(),
                            .a = {a, kLinearChunk},
                            .b = {b, width},
                            .c = to,
                            .c_row = width,
                            .accumulate = accumulate};
  if (all_finite(b, product.k * width)) return kernels::gemm_tile(product);
  product.m = 1;
  for (Index i = tile.rows.begin; i < tile.rows.end; ++i) {
    product.k = seen_.end(tile.b, i) - tile.keys.begin;
    kernels::gemm_tile(product);
    product.a = product.a.from(1, 0), product.c += width;
  }
}

void LinearWork::add_rows(const LinearTile& tile, const float* a, const float* b, Index columns, Index width,
                          float* to) const {
  kernels::GemmTile product{.m = tile.keys.size(),
                            .n = width,
                            .k = tile.rows.size(),
                            .a = {a, 1, kLinearChunk},
                            .b = {b, columns},
                            .c = to,
                            .c_row = width,
                            .accumulate = true};
  if (all_finite(b, product.k * columns)) return kernels::gemm_tile(product);
  product.m = 1;
  Index first = 0;  // the first row that sees the key
  for (Index j = tile.keys.begin; j < tile.keys.end; ++j) {
    while (seen_.end(tile.b, tile.rows.begin + first) <= j) ++first;
    product.a = {a + (j - tile.keys.begin) + first * kLinearChunk, 1, kLinearChunk};
    product.b = {b + first * columns, columns};
    product.k = tile.rows.size() - first;
    kernels::gemm_tile(product);
    product.c += width;
  }
}

}  // namespace heed
