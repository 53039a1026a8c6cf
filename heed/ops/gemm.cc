#include "heed/ops/gemm.h"

#include <algorithm>

#include "heed/base/check.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/gemm_library.h"
#include "heed/tensor/operands.h"

namespace heed {
namespace {

using kernels::GemmTile;
using kernels::kGemmTileDepth;

// Any depth, on this thread. Both ways of computing a block give the same bits, so the choice may look at every extent.
void multiply_tile(const GemmTile& whole) {
  kernels::in_chains(whole, [](const GemmTile& t) {
    const bool small = t.m <= 8 || t.k <= 2 || t.m * t.n * t.k <= 32 * 1024;
    if (small || !multiply_with_library(t)) kernels::gemm_tile(t);
  });
}

// The extents of the tiles that threads share out.
struct TileShape {
  Index rows, columns;
};

// Multiply-adds of a product; with few rows it is the reading of b that takes the time.
double work(Index m, Index n, Index k) {
  return static_cast<double>(std::max<Index>(m, 8)) * static_cast<double>(n) *
         static_cast<double>(std::max<Index>(k, 1));
}

// Large tiles use what is packed of a and b more often; there need be enough of them, with work enough to be worth a
// hand-over. No bit depends on the tiles, so they may depend on the thread count.
TileShape tile_shape(Index batch, const GemmTile& any) {
  constexpr double kLeastWork = 512 * 1024;
  const Index m = any.m, n = any.n, k = any.k, threads = thread_count(), enough = threads == 1 ? 1 : 2 * threads;
  const bool a_transposed = any.a.row == 1 && any.a.col > 1;
  // gemm_tile turns a transposed b anew for each tile's rows; up to this depth the library takes whole rows of c.
  const bool b_turned = any.b.col != 1 && k > kGemmTileDepth;
  // The rows of a transposed a are read a tile's width at a time, and short pieces defeat the prefetcher.
  TileShape tile{std::min<Index>(m, a_transposed ? 1024 : b_turned ? 512 : 256), std::min<Index>(n, 1024)};
  const auto tiles = [&] { return batch * ceil_div(m, tile.rows) * ceil_div(n, tile.columns); };
  const auto may_halve = [&] { return tiles() < enough && work(tile.rows, tile.columns, k) >= 2 * kLeastWork; };
  while (may_halve() && tile.columns >= 128 && b_turned) tile.columns = round_up(tile.columns / 2, 64);
  while (may_halve() && tile.rows >= 128) tile.rows = (tile.rows / 2 + 15) / 16 * 16;
  while (may_halve() && tile.columns >= 128) tile.columns = (tile.columns / 2 + 31) / 32 * 32;
  return tile;
}

// Cuts the products of a batch into tiles; item(x) returns the whole product of batch element x.
template <typename ItemFn>
void multiply_batch(Index batch, const GemmTile& any, const ItemFn& item) {
  const Index m = any.m, n = any.n;
  const TileShape shape = tile_shape(batch, any);
  const Index down = ceil_div(m, shape.rows), across = ceil_div(n, shape.columns);
  constexpr double kWorkPerTask = 256 * 1024;
  const Index grain = grain_of(work(shape.rows, shape.columns, any.k), kWorkPerTask);
  parallel_for(batch * down * across, grain, [&](Index begin, Index end) {
    for (Index tile = begin; tile < end; ++tile) {
      GemmTile t = item(tile / (down * across));
      const Index i = tile / across % down * shape.rows, j = tile % across * shape.columns;
      t.m = std::min(m - i, shape.rows);
      t.n = std::min(n - j, shape.columns);
      t.a = t.a.from(i, 0), t.b = t.b.from(0, j);
      t.c += i * t.c_row + j;
      if (t.bias != nullptr) t.bias += j;
      multiply_tile(t);
    }
  });
}

// A weight's gradient: few rows and columns, and a depth of thousands (the tokens), though not so many that the sums of
// its blocks fill the memory.
bool is_deep(const GemmTile& t) {
  constexpr Index kMostSums = Index{1} << 25;
  return t.k >= 2 * kGemmTileDepth && t.m >= 32 && t.n >= 32 && t.m * t.n <= 512 * 512 &&
         t.k / kGemmTileDepth <= kMostSums / (t.m * t.n);
}

// Shares out the blocks of the depth instead of tiles, so that each thread reads whole rows of a transposed a and of b.
// Each block's sum goes to a buffer of its own, the first one's to c; they are then added in order, which is what
// multiply_tile does.
void multiply_deep(const GemmTile& whole) {
  const Index blocks = ceil_div(whole.k, kGemmTileDepth), size = whole.m * whole.n;
  const auto memory = allocate((blocks - 1) * size * static_cast<Index>(sizeof(float)));
  float* const sums = static_cast<float*>(memory.get());
  parallel_for(blocks, 1, [&](Index block, Index) {
    GemmTile t = whole;
    t.k = std::min(whole.k - block * kGemmTileDepth, kGemmTileDepth);
    t.a = t.a.from(0, block * kGemmTileDepth), t.b = t.b.from(block * kGemmTileDepth, 0);
    if (block > 0) {
      t.c = sums + (block - 1) * size;
      t.c_row = t.n;
      t.accumulate = false;
      t.bias = nullptr;
    }
    multiply_tile(t);
  });
  parallel_for(whole.m, std::max<Index>(1, 8192 / whole.n), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      kernels::add_column_sums(sums + i * whole.n, blocks - 1, size, whole.n, whole.c + i * whole.c_row);
  });
}

// The definition, in double.
void multiply_f64(const ConstView& a, const ConstView& b, const View& c, const GemmOptions& options) {
  const Index m = c.shape[2], n = c.shape[3], k = a.shape[3];
  parallel_for(c.shape[0] * c.shape[1] * m, 8, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index x = row / m / c.shape[1], y = row / m % c.shape[1], i = row % m;
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        const double* left = a.as<double>() + a.offset({x, y, i, 0});
        const double* right = b.as<double>() + b.offset({x, y, 0, j});
        for (Index p = 0; p < k; ++p) sum += left[p * a.stride[3]] * right[p * b.stride[2]];
        double& element = c.at<double>({x, y, i, j});
        const double base = options.accumulate ? element : options.bias ? options.bias.at<double>({j}) : 0.0;
        element = options.alpha * sum + base;
      }
    }
  });
}

// With leading axes of extent 1 up to rank 4.
template <typename V>
V with_two_batch_axes(V view) {
  while (view.rank < 4) {
    std::copy_backward(view.shape.begin(), view.shape.end() - 1, view.shape.end());
    std::copy_backward(view.stride.begin(), view.stride.end() - 1, view.stride.end());
    view.shape[0] = 1, view.stride[0] = 0;
    ++view.rank;
  }
  return view;
}

void check(const ConstView& a, const ConstView& b, const View& c, const GemmOptions& options) {
  check_operands("gemm", {{"a", a}, {"b", b}, {"the bias", options.bias, kOptional}}, {{"c", c}});
  const int rank = c.rank;
  HEED_CHECK(rank >= 2 && a.rank == rank && b.rank == rank && a.shape[rank - 1] == b.shape[rank - 2] &&
                 a.shape[rank - 2] == c.shape[rank - 2] && b.shape[rank - 1] == c.shape[rank - 1] &&
                 std::equal(a.shape.begin(), a.shape.begin() + rank - 2, c.shape.begin()) &&
                 std::equal(b.shape.begin(), b.shape.begin() + rank - 2, c.shape.begin()),
             "gemm: needs a [.., M, K], b [.., K, N] and c [.., M, N], but got {}, {} and {}", describe(a), describe(b),
             describe(c));
  HEED_CHECK((c.dtype == DType::f32 || c.dtype == DType::f64) && a.dtype == c.dtype && b.dtype == c.dtype,
             "gemm: a, b and c must all be f32 or all f64, but are {}, {} and {}", describe(a), describe(b),
             describe(c));
  HEED_CHECK(!options.bias || (options.bias.rank == 1 && options.bias.shape[0] == c.shape[rank - 1] &&
                               options.bias.dtype == c.dtype && options.bias.contiguous() && !options.accumulate),
             "gemm: the bias must be contiguous [N] of c's type and not come with accumulate, but is {} for c {}",
             describe(options.bias), describe(c));
}

}  // namespace

void gemm(ConstView a, ConstView b, View c, const GemmOptions& options) {
  check(a, b, c, options);
  if (c.size() == 0) return;
  a = with_two_batch_axes(a), b = with_two_batch_axes(b), c = with_two_batch_axes(c);
  if (c.dtype == DType::f64) return multiply_f64(a, b, c, options);

  const bool unit_columns = c.stride[3] == 1 || c.shape[3] == 1, unit_rows = c.stride[2] == 1 || c.shape[2] == 1;
  HEED_CHECK(unit_columns || (unit_rows && !options.bias),
             "gemm: c must have unit stride along its last axis (or, without a bias, the one before), but is {}",
             describe(c));
  // c^T = b^T a^T writes columns; a single column is as well written as a row.
  if (!unit_columns || (c.shape[3] == 1 && unit_rows && !options.bias)) {
    std::swap(a, b);
    a = transpose(a, 2, 3), b = transpose(b, 2, 3), c = transpose(c, 2, 3);
  }
  GemmTile first{.m = c.shape[2],
                 .n = c.shape[3],
                 .k = a.shape[3],
                 .a = {a.as<float>(), a.stride[2], a.stride[3]},
                 .b = {b.as<float>(), b.stride[2], b.stride[3]},
                 .c = c.as<float>(),
                 .c_row = c.stride[2],
                 .bias = options.bias.as<float>(),
                 .alpha = static_cast<float>(options.alpha),
                 .accumulate = options.accumulate};
  if (first.k == 0) {  // nothing is read, and arithmetic on the null pointers of empty tensors is not defined
    static constexpr float kNothing = 0;
    first.a = first.b = {&kNothing, 0, 0};
  }
  const Index batch = c.shape[0] * c.shape[1];
  if (batch == 1 && is_deep(first)) return multiply_deep(first);
  multiply_batch(batch, first, [&](Index item) {
    const Index x = item / c.shape[1], y = item % c.shape[1];
    GemmTile t = first;
    t.a.data += x * a.stride[0] + y * a.stride[1];
    t.b.data += x * b.stride[0] + y * b.stride[1];
    t.c += x * c.stride[0] + y * c.stride[1];
    return t;
  });
}

}  // namespace heed
