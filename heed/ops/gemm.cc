#include "heed/ops/gemm.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "heed/base/check.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/kernels/target.h"

namespace heed {
namespace {

using kernels::GemmTile;
using kernels::kGemmTileDepth;

// ---- The library's product, single-threaded, for one tile
// --------------------------------------------------------------------

// A matrix as the library wants it: unit stride along one axis, `leading` elements from one to the next along the
// other.
struct Layout {
  bool transposed;  // unit stride along the rows
  Index leading;
};

std::optional<Layout> library_layout(Index rows, Index columns, Index row_stride, Index column_stride) {
  if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1))
    return Layout{false, rows == 1 ? columns : row_stride};
  if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1))
    return Layout{true, columns == 1 ? rows : column_stride};
  return std::nullopt;
}

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// A primitive with its arguments, kept because making one takes longer than a small product.
struct Product {
  bool usable = false;  // the implementation is the one whose order of summation is known
  dnnl::matmul primitive;
  dnnl::memory a, b, c, bias, scratch;
  std::size_t scratch_bytes = 0;
  std::unordered_map<int, dnnl::memory> arguments;
  std::uint64_t last_use = 0;
};

// Everything that a primitive depends on.
struct ProductKey {
  std::array<Index, 6> sizes;  // m, n, k, leading of a, b, c
  float alpha;
  std::uint32_t flags;  // 1: a transposed, 2: b transposed, 4: accumulate, 8: bias

  bool operator==(const ProductKey&) const = default;
};

struct ProductKeyHash {
  std::size_t operator()(const ProductKey& key) const {
    std::uint32_t alpha_bits;
    std::memcpy(&alpha_bits, &key.alpha, sizeof alpha_bits);
    std::uint64_t hash = (std::uint64_t{alpha_bits} << 8) + key.flags;
    for (Index size : key.sizes)
      hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    return static_cast<std::size_t>(hash);
  }
};

Product make_product(const ProductKey& key) {
  // The library fixes how it splits the work when a primitive is made. Told that there is one thread, it never splits
  // at all.
  struct OneThread {
    int saved = omp_get_max_threads();
    OneThread() { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(saved); }
  } one_thread;

  using Desc = dnnl::memory::desc;
  constexpr auto kF32 = dnnl::memory::data_type::f32;
  const auto [m, n, k, a_leading, b_leading, c_leading] = key.sizes;
  const auto matrix = [&](Index rows, Index columns, Index leading, bool transposed) {
    return transposed ? Desc({rows, columns}, kF32, {1, leading}) : Desc({rows, columns}, kF32, {leading, 1});
  };
  const Desc a = matrix(m, k, a_leading, key.flags & 1), b = matrix(k, n, b_leading, key.flags & 2);
  const Desc c = matrix(m, n, c_leading, false), bias({1, n}, kF32, {n, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (key.alpha != 1.0f) attributes.set_output_scales(0, {key.alpha});
  if (key.flags & 4) {
    dnnl::post_ops after;
    after.append_sum(1.0f);
    attributes.set_post_ops(after);
  }
  Product product;
  try {
    const auto desc = key.flags & 8 ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    const dnnl::matmul::primitive_desc chosen(desc, attributes, cpu());
    // "brg:avx512_core": one chain per element for depths up to kGemmTileDepth, as gemm_test.cc holds it to. Others are
    // not.
    if (!std::string_view(chosen.impl_info_str()).starts_with("brg")) return product;
    product.primitive = dnnl::matmul(chosen);
    const Desc scratch = chosen.scratchpad_desc();
    product.scratch_bytes = scratch.get_size();
    const auto add = [&](int argument, dnnl::memory& memory, const Desc& layout) {
      memory = dnnl::memory(layout, cpu(), nullptr);
      product.arguments.emplace(argument, memory);
    };
    add(DNNL_ARG_SRC, product.a, a);
    add(DNNL_ARG_WEIGHTS, product.b, b);
    add(DNNL_ARG_DST, product.c, c);
    if (key.flags & 8) add(DNNL_ARG_BIAS, product.bias, bias);
    add(DNNL_ARG_SCRATCHPAD, product.scratch, scratch);
    product.usable = true;
  } catch (const dnnl::error&) {  // a shape that the library does not take
  }
  return product;
}

// A thread's primitives, the least recently used given up first.
class ProductCache {
 public:
  Product& find(const ProductKey& key) {
    auto found = products_.find(key);
    if (found == products_.end()) {
      if (products_.size() >= kCapacity) {
        products_.erase(std::min_element(products_.begin(), products_.end(), [](const auto& x, const auto& y) {
          return x.second.last_use < y.second.last_use;
        }));
      }
      found = products_.emplace(key, make_product(key)).first;
    }
    found->second.last_use = ++clock_;
    return found->second;
  }

  void run(Product& product, const GemmTile& t) {
    if (static_cast<Index>(product.scratch_bytes) > scratch_bytes_) {
      scratch_bytes_ = static_cast<Index>(product.scratch_bytes);
      scratch_ = allocate(scratch_bytes_);
    }
    product.a.set_data_handle(const_cast<float*>(t.a));
    product.b.set_data_handle(const_cast<float*>(t.b));
    product.c.set_data_handle(t.c);
    if (t.bias != nullptr) product.bias.set_data_handle(const_cast<float*>(t.bias));
    if (product.scratch_bytes > 0) product.scratch.set_data_handle(scratch_.get());
    product.primitive.execute(stream_, product.arguments);
  }

 private:
  static constexpr std::size_t kCapacity = 512;
  std::unordered_map<ProductKey, Product, ProductKeyHash> products_;
  std::uint64_t clock_ = 0;
  dnnl::stream stream_{cpu()};
  std::shared_ptr<void> scratch_;
  Index scratch_bytes_ = 0;
};

// Returns false where the library cannot be used or would not give gemm_tile's bits.
bool multiply_with_library(const GemmTile& t) {
  static const bool has_known_implementation = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  if (!has_known_implementation || !kernels::gemm_tile_is_fused()) return false;
  const auto a = library_layout(t.m, t.k, t.a_row, t.a_col), b = library_layout(t.k, t.n, t.b_row, t.b_col);
  const auto c = library_layout(t.m, t.n, t.c_row, 1);
  if (!a || !b || !c || c->transposed) return false;
  static thread_local ProductCache cache;
  Product& product = cache.find({.sizes = {t.m, t.n, t.k, a->leading, b->leading, c->leading},
                                 .alpha = t.alpha,
                                 .flags = (a->transposed ? 1u : 0u) | (b->transposed ? 2u : 0u) |
                                          (t.accumulate ? 4u : 0u) | (t.bias != nullptr ? 8u : 0u)});
  if (!product.usable) return false;
  try {
    cache.run(product, t);
  } catch (const dnnl::error& error) {
    fail("gemm: the library failed on [{}, {}] x [{}, {}]: {}", t.m, t.k, t.k, t.n, error.what());
  }
  return true;
}

// ---- Cutting a product into tiles
// --------------------------------------------------------------------------------------------

// Any depth, on this thread. Both ways of computing a block give the same bits, so the choice may look at every extent.
void multiply_tile(GemmTile t) {
  const Index depth = t.k;
  for (Index p = 0; p < depth || p == 0; p += kGemmTileDepth) {
    t.k = std::min(depth - p, kGemmTileDepth);
    const bool small = t.m <= 8 || t.k <= 2 || t.m * t.n * t.k <= 32 * 1024;
    if (small || !multiply_with_library(t)) kernels::gemm_tile(t);
    t.a += t.k * t.a_col;
    t.b += t.k * t.b_row;
    t.accumulate = true;
    t.bias = nullptr;
  }
}

// The extents of the tiles that threads share out, large enough to be worth a hand-over and to use what is packed of b.
struct TileShape {
  Index rows, columns;
};

// Multiply-adds of a product; with few rows it is the reading of b that takes the time.
Index work(Index m, Index n, Index k) { return std::max<Index>(m, 8) * n * std::max<Index>(k, 1); }

TileShape tile_shape(Index m, Index n, Index k) {
  constexpr Index kLeastWork = 512 * 1024, kEnoughTiles = 32;
  TileShape tile{std::min<Index>(m, 256), std::min<Index>(n, 1024)};
  const auto count = [&] { return ((m + tile.rows - 1) / tile.rows) * ((n + tile.columns - 1) / tile.columns); };
  const auto may_halve = [&] { return count() < kEnoughTiles && work(tile.rows, tile.columns, k) >= 2 * kLeastWork; };
  while (may_halve() && tile.rows >= 128) tile.rows = (tile.rows / 2 + 15) / 16 * 16;
  while (may_halve() && tile.columns >= 128) tile.columns = (tile.columns / 2 + 31) / 32 * 32;
  return tile;
}

// The product of every batch element: `items` is called with an element's number and returns its whole product.
template <typename ItemFn>
void multiply_batch(Index batch, Index m, Index n, Index k, const ItemFn& item) {
  const TileShape shape = tile_shape(m, n, k);
  const Index down = (m + shape.rows - 1) / shape.rows, across = (n + shape.columns - 1) / shape.columns;
  const Index tiles = batch * down * across;
  constexpr Index kWorkPerTask = 256 * 1024;
  const Index grain = std::max<Index>(1, kWorkPerTask / std::max<Index>(1, work(shape.rows, shape.columns, k)));
  parallel_for(tiles, grain, [&](Index begin, Index end) {
    for (Index tile = begin; tile < end; ++tile) {
      GemmTile t = item(tile / (down * across));
      const Index i = tile / across % down * shape.rows, j = tile % across * shape.columns;
      t.m = std::min(m - i, shape.rows);
      t.n = std::min(n - j, shape.columns);
      t.a += i * t.a_row;
      t.b += j * t.b_col;
      t.c += i * t.c_row + j;
      if (t.bias != nullptr) t.bias += j;
      multiply_tile(t);
    }
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
  static const std::int64_t target = active_simd_target();  // throws, once and for all, for a bad HEED_TARGET
  static_cast<void>(target);

  const bool unit_columns = c.stride[3] == 1 || c.shape[3] == 1, unit_rows = c.stride[2] == 1 || c.shape[2] == 1;
  HEED_CHECK(unit_columns || (unit_rows && !options.bias),
             "gemm: c must have unit stride along its last axis (or, without a bias, the one before), but is {}",
             describe(c));
  // c^T = b^T a^T writes columns; a single column is as well written as a row.
  if (!unit_columns || (c.shape[3] == 1 && unit_rows && !options.bias)) {
    std::swap(a, b);
    a = transpose(a, 2, 3), b = transpose(b, 2, 3), c = transpose(c, 2, 3);
  }
  const GemmTile first{.m = c.shape[2],
                       .n = c.shape[3],
                       .k = a.shape[3],
                       .a = a.as<float>(),
                       .a_row = a.stride[2],
                       .a_col = a.stride[3],
                       .b = b.as<float>(),
                       .b_row = b.stride[2],
                       .b_col = b.stride[3],
                       .c = c.as<float>(),
                       .c_row = c.stride[2],
                       .bias = options.bias.as<float>(),
                       .alpha = static_cast<float>(options.alpha),
                       .accumulate = options.accumulate};
  multiply_batch(c.shape[0] * c.shape[1], first.m, first.n, first.k, [&](Index item) {
    const Index x = item / c.shape[1], y = item % c.shape[1];
    GemmTile t = first;
    t.a += x * a.stride[0] + y * a.stride[1];
    t.b += x * b.stride[0] + y * b.stride[1];
    t.c += x * c.stride[0] + y * c.stride[1];
    return t;
  });
}

}  // namespace heed
