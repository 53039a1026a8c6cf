#include "heed/ops/attention/plans/linear_chunk.h"

#include "heed/kernels/attention_rows.h"
#include "heed/kernels/lane_layout.h"
#include "heed/kernels/state_rows.h"
#include "heed/ops/attention/plans/float_rows.h"

namespace heed {

Range LinearRows::chunk_keys(Index b, Index chunk) const {
  const Index seen = keys(b), begin = std::min(seen, chunk * kLinearChunk);
  return {begin, std::min(seen, begin + kLinearChunk)};
}

Index LinearRows::first(Index b, Index chunks) const {
  if (c.queries == 0) return 0;
  const Index last = keys(b), begin = end(b, 0), wanted = std::max<Index>(chunks * kLinearChunk, 1);
  if (end_together()) return last > 0 && whole_chunks(last) >= chunks ? 0 : c.queries;
  if (last < wanted) return c.queries;
  // No end is more than a key further than that of the row before: one of these two is the row itself, unless rows
  // without a key stand before it and rows behind the key length after it.
  Index low = std::max<Index>(wanted - begin, 0), high = c.queries - 1 - (last - wanted);
  while (low < high) {
    const Index middle = (low + high) / 2;
    end(b, middle) >= wanted ? high = middle : low = middle + 1;
  }
  return low;
}

void LinearRows::tile_ends(const LinearTile& tile, Index* ends) const {
  const Index seen = end(tile.b, tile.rows.begin) - tile.keys.begin, most = keys(tile.b) - tile.keys.begin;
  for (Index r = 0; r < tile.rows.size(); ++r) ends[r] = std::min(end_together() ? seen : seen + r, most);
}

kernels::Matrix ChunkRows::transposed() {
  if (!is_transposed_) kernels::rows_to_lanes(count_, width_, rows_, width_, transposed_, kLinearChunk);
  is_transposed_ = true;
  return {transposed_, kLinearChunk};
}

bool ChunkRows::finite() {
  if (!is_judged_) finite_ = kernels::all_finite(count_ * width_, rows_);
  is_judged_ = true;
  return finite_;
}

LinearWork::LinearWork(const AttentionProblem& problem, const LinearFeatures& features, Index states, char* scratch,
                       bool backward)
    : c(problem), features_(features), seen_(problem), state_count_(states) {
  layout(scratch, states, backward);
}

Index LinearWork::bytes(const AttentionProblem& c, const LinearFeatures& features, Index states, bool backward) {
  LinearWork measured(c, features, states, nullptr, backward);
  return measured.layout(nullptr, states, backward);
}

// Cuts the scratch memory into what this case needs; returns how much that is.
Index LinearWork::layout(char* base, Index states, bool backward) {
  Index used = 0;
  const auto take = [&]<typename T>(T*& pointer, bool wanted, Index count) {
    pointer = base == nullptr || !wanted ? nullptr : reinterpret_cast<T*>(base + used);
    if (wanted) used += (count * static_cast<Index>(sizeof(T)) + 63) / 64 * 64;
  };
  const auto take_rows = [&](ChunkRows& chunk, Index width, bool transposed) {
    float *data = nullptr, *columns = nullptr;
    take(data, true, kLinearChunk * width);
    take(columns, transposed, kLinearChunk * width);
    chunk = ChunkRows(data, columns, width);
  };
  const bool narrow =
      c.dtype != DType::f32 || c.k.view().dtype != DType::f32 || (c.v && c.v.view().dtype != DType::f32);
  take_rows(keys, c.features, true);
  take_rows(values, c.value_width, backward);
  take_rows(queries, c.features, false);
  take_rows(rows, c.value_width, false);
  state_size_ = c.features * (c.value_width + 1);
  take(states_, true, states * state_size_);
  take(products, true, kLinearChunk * kLinearChunk);
  take(sums, true, kLinearChunk);
  take(dproducts, backward, kLinearChunk * kLinearChunk);
  take(dfeatures, backward, kLinearChunk * c.features);
  take(dvalues, backward, kLinearChunk * c.value_width);
  take(dsums, backward, kLinearChunk);
  take(ends_, true, kLinearChunk);
  take(key_sums_, true, kLinearChunk);
  take(input_, narrow || c.k.paged(), kLinearChunk * std::max(c.width, c.value_width));
  take(dinput_, backward && narrow, kLinearChunk * c.width);
  return used;
}

kernels::Matrix LinearWork::read(const ConstView& view, Index place, Index count) const {
  const FloatRows x = float_rows(view, place, count, input_);
  return {x.data, x.row};
}

// Calls f(first row, how many, the rows as f32) for rows that lie one after another.
template <typename F>
void LinearWork::for_runs(const RowSource& source, Index b, Index g, Range range, const F& f) const {
  for (Index at = range.begin; at < range.end;) {
    const RowSource::Run run = source.run(b, g, {at, range.end});
    const FloatRows x = float_rows(source, b, g, {at, at + run.rows}, input_);
    f(at - range.begin, run.rows, kernels::Matrix{x.data, x.row});
    at += run.rows;
  }
}

void LinearWork::load_keys(Index b, Index g, Range range, Range next) {
  keys_ahead.clear();
  keys_ahead.expect(c.k, b, g, next);
  if (c.v) keys_ahead.expect(c.v, b, g, next);
  float* features = keys.fill(range.size());
  for_runs(c.k, b, g, range, [&](Index first, Index count, kernels::Matrix x) {
    features_.map(count, x, features + first * c.features);
  });
  float* to = values.fill(range.size());
  if (!c.v) return;
  for_runs(c.v, b, g, range, [&](Index first, Index count, kernels::Matrix x) {
    for (Index r = 0; r < count; ++r) std::copy_n(&x.data[r * x.row], c.value_width, to + (first + r) * c.value_width);
  });
}

void LinearWork::load_queries(const LinearTile& tile, Range next) {
  rows_ahead.clear();
  rows_ahead.expect(c.q, tile.b, tile.h, next);
  const Index count = tile.rows.size();
  features_.map(count, read(c.q, c.q.offset({tile.b, tile.h, tile.rows.begin}), count), queries.fill(count));
  seen_.tile_ends(tile, ends_);
}

void LinearWork::multiply(const kernels::GemmTile& product) {
  kernels::in_chains(product, [&](const kernels::GemmTile& chain) {
    RowsAhead& ahead = keys_ahead.lines().left >= chain.k ? keys_ahead : rows_ahead;
    kernels::gemm_tile_ahead(chain, ahead.lines());
  });
}

void LinearWork::clear_states() { std::fill_n(states_, state_count_ * state_size_, 0.0f); }

void LinearWork::choose_state(Index n) {
  state = states_ + n * state_size_;
  state_sums = state + c.features * c.value_width;
}

void LinearWork::add_to_state(const ChunkRows& features, const ChunkRows& x, const float* weights) {
  multiply({.m = c.features,
            .n = c.value_width,
            .k = features.count(),
            .a = {features.matrix().data, 1, c.features},
            .b = x.matrix(),
            .c = state,
            .c_row = c.value_width,
            .accumulate = true});
  kernels::add_rows_to_sums(features.count(), c.features, features.matrix().data, c.features, weights, state_sums);
}

void LinearWork::add_to_transposed_state(const ChunkRows& features, const ChunkRows& x) {
  multiply({.m = c.value_width,
            .n = c.features,
            .k = features.count(),
            .a = {x.matrix().data, 1, c.value_width},
            .b = features.matrix(),
            .c = state,
            .c_row = c.features,
            .accumulate = true});
  kernels::add_rows_to_sums(features.count(), c.features, features.matrix().data, c.features, nullptr, state_sums);
}

template <typename F>
void LinearWork::for_parts(const LinearTile& tile, const F& f) const {
  const Index count = tile.rows.size(), part = seen_.end_together() ? count : kLinearRows;
  for (Index r = 0; r < count; r += part) {
    const Range part_rows{r, std::min(count, r + part)};
    f(part_rows, ends_[part_rows.end - 1]);
  }
}

void LinearWork::multiply_queries_by_keys(const LinearTile& tile) {
  for_parts(tile, [&](Range part, Index seen) {
    float* to = products + part.begin * kLinearChunk;
    multiply({.m = part.size(),
              .n = seen,
              .k = c.features,
              .a = queries.matrix().from(part.begin, 0),
              .b = keys.transposed(),
              .c = to,
              .c_row = kLinearChunk});
    kernels::clear_row_ends(part.size(), seen, ends_ + part.begin, nullptr, to, kLinearChunk);
  });
}

void LinearWork::multiply_rows_by_values(const LinearTile& tile) {
  for_parts(tile, [&](Range part, Index seen) {
    float* to = dproducts + part.begin * kLinearChunk;
    multiply({.m = part.size(),
              .n = seen,
              .k = c.value_width,
              .a = rows.matrix().from(part.begin, 0),
              .b = values.transposed(),
              .c = to,
              .c_row = kLinearChunk});
    kernels::clear_row_ends(part.size(), seen, ends_ + part.begin, dsums + part.begin, to, kLinearChunk);
  });
}

void LinearWork::multiply_queries(const LinearTile& tile, bool has_state) {
  const Index count = tile.rows.size();
  float* to = rows.fill(count);
  std::fill_n(sums, count, 0.0f);
  if (has_state) {
    multiply({.m = count,
              .n = c.value_width,
              .k = c.features,
              .a = queries.matrix(),
              .b = {state, c.value_width},
              .c = to,
              .c_row = c.value_width});
    kernels::attention_row_dots(count, c.features, queries.matrix().data, c.features, state_sums, 0, sums);
  }
  if (tile.keys.empty()) return;
  multiply_queries_by_keys(tile);
  for_parts(tile, [&](Range part, Index seen) {
    kernels::row_sums(part.size(), seen, products + part.begin * kLinearChunk, kLinearChunk, key_sums_ + part.begin);
  });
  for (Index r = 0; r < count; ++r) sums[r] += key_sums_[r];
  add_keys(tile, products, values, to, has_state);
}

// A zero of a refused key times a NaN or an infinity would count: where there is one, each row takes its own keys
// alone, which gives the same bits.
void LinearWork::add_keys(const LinearTile& tile, const float* a, ChunkRows& b, float* to, bool accumulate) const {
  for_parts(tile, [&](Range part, Index seen) {
    kernels::GemmTile product{.m = part.size(),
                              .n = b.width(),
                              .k = seen,
                              .a = {a + part.begin * kLinearChunk, kLinearChunk},
                              .b = b.matrix(),
                              .c = to + part.begin * b.width(),
                              .c_row = b.width(),
                              .accumulate = accumulate};
    if (seen_.end_together() || b.finite()) return kernels::gemm_tile(product);
    product.m = 1;
    for (Index r = part.begin; r < part.end; ++r) {
      product.k = ends_[r];
      kernels::gemm_tile(product);
      product.a = product.a.from(1, 0), product.c += b.width();
    }
  });
}

void LinearWork::add_rows(const LinearTile& tile, const float* a, ChunkRows& b, float* to) const {
  for_parts(tile, [&](Range part, Index seen) {
    kernels::GemmTile product{.m = seen,
                              .n = b.width(),
                              .k = part.size(),
                              .a = {a + part.begin * kLinearChunk, 1, kLinearChunk},
                              .b = b.matrix().from(part.begin, 0),
                              .c = to,
                              .c_row = b.width(),
                              .accumulate = true};
    if (seen_.end_together() || b.finite()) return kernels::gemm_tile(product);
    product.m = 1;
    Index first = part.begin;  // the first row that sees the key
    for (Index j = 0; j < seen; ++j) {
      while (ends_[first] <= j) ++first;
      product.a = {a + first * kLinearChunk + j, 1, kLinearChunk};
      product.b = b.matrix().from(first, 0);
      product.k = part.end - first;
      kernels::gemm_tile(product);
      product.c += b.width();
    }
  });
}

void LinearWork::store_input_gradients(const ConstView& x, Index x_place, const ChunkRows& features, const View& to,
                                       Index place) const {
  const Index count = features.count();
  kernels::Matrix inputs{nullptr, 0};
  if (features_.reads_inputs()) inputs = read(x, x_place, count);
  const bool wide = to.dtype == DType::f32;
  float* dx = wide ? to.as<float>() + place : dinput_;
  features_.backward(count, inputs, features.matrix().data, dfeatures, dx, wide ? to.stride[2] : c.width);
  if (!wide) store_rows({dinput_, c.width}, count, to, place);
}

}  // namespace heed
