#include "heed/ops/gemm_library.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "heed/base/check.h"
#include "heed/base/memory.h"

// Of the OpenMP runtime that oneDNN runs on. heed starts no thread of it, and is compiled without OpenMP.
extern "C" {
void omp_set_num_threads(int threads) noexcept;
int omp_get_max_threads() noexcept;
}

namespace heed {
namespace {

using kernels::GemmTile;

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

// The library's word for std::bad_alloc becomes that again.
void check_memory(const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
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

// While there is one, the library splits no work: it is told that there is one thread.
struct OneThread {
  int saved = omp_get_max_threads();
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(saved); }
};

Product make_product(const ProductKey& key) {
  const OneThread one_thread;  // how it splits the work is fixed when a primitive is made
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
  } catch (const dnnl::error& error) {  // a shape that the library does not take
    check_memory(error);
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
    product.a.set_data_handle(const_cast<float*>(t.a.data));
    product.b.set_data_handle(const_cast<float*>(t.b.data));
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

}  // namespace

bool multiply_with_library(const GemmTile& t) {
  static const bool has_known_implementation = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  if (!has_known_implementation || !kernels::gemm_tile_is_fused()) return false;
  const auto a = library_layout(t.m, t.k, t.a.row, t.a.col), b = library_layout(t.k, t.n, t.b.row, t.b.col);
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
    check_memory(error);
    fail("gemm: the library failed on [{}, {}] x [{}, {}]: {}", t.m, t.k, t.k, t.n, error.what());
  }
  return true;
}

bool library_is_exact(Index k) {
  constexpr Index kMostProducts = 65536;  // of 255, as it shifts a byte, by 128
  static const bool has_unit = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_vnni;
  return has_unit && k <= kMostProducts;
}

void multiply_with_library(const ByteProduct& p) {
  const OneThread one_thread;
  const std::int32_t added = 0;
  const dnnl_status_t status =
      dnnl_gemm_s8s8s32('N', 'T', 'F', p.m, p.n, p.k, 1.0f, p.a, p.a_row, 0, p.b, p.b_row, 0, 0.0f, p.c, p.n, &added);
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  HEED_CHECK(status == dnnl_success, "gemm: the library failed on bytes [{}, {}] x [{}, {}]: status {}", p.m, p.k, p.k,
             p.n, static_cast<int>(status));
}

}  // namespace heed
