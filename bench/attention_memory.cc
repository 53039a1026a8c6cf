// The memory that attention takes beside its inputs, outputs and gradients, at a length whose matrix of scores would be
// gigabytes: a forward and a backward call of each plan, every byte from the allocator counted. Exits with 1 where a
// peak is above the limit.
//
//   heed_attention_memory [LENGTH = 16384] [LIMIT IN MIB = 64] [ONLY THIS MECHANISM, as "dense"]
#include <fmt/core.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/attention/attention.h"
#include "heed/tensor/tensor.h"

namespace {

std::atomic<std::size_t> g_held{0}, g_peak{0};

void* counted(void* block) {
  const std::size_t size = malloc_usable_size(block), held = g_held.fetch_add(size) + size;
  for (std::size_t peak = g_peak; held > peak && !g_peak.compare_exchange_weak(peak, held);) {
  }
  return block;
}

void forget(void* block) { g_held.fetch_sub(malloc_usable_size(block)); }

}  // namespace

// The allocator of the whole program, operator new included: glibc's, counted.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names that glibc gives them
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t size) { return counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return counted(__libc_calloc(count, size)); }
void* realloc(void* block, std::size_t size) {
  forget(block);
  return counted(__libc_realloc(block, size));
}
void* memalign(std::size_t alignment, std::size_t size) { return counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = counted(__libc_memalign(alignment, size));
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  forget(block);
  __libc_free(block);
}
}

namespace heed {
namespace {

constexpr double kMebibyte = 1 << 20;

Tensor random_tensor(DType dtype, std::initializer_list<Index> shape, std::uint64_t seed) {
  const Tensor tensor = Tensor::empty(DType::f32, shape);
  Rng rng(seed);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = static_cast<float>(rng.uniform() - 0.5);
  return dtype == DType::f32 ? tensor : tensor.to(dtype);
}

// What a call has taken.
struct Cost {
  double mebibytes, seconds;
};

template <typename Call>
Cost measure(Call&& call) {
  using Clock = std::chrono::steady_clock;
  release_idle_memory();
  const std::size_t before = g_held;
  g_peak = before;
  const Clock::time_point start = Clock::now();
  call();
  const std::chrono::duration<double> time = Clock::now() - start;
  return {static_cast<double>(g_peak - before) / kMebibyte, time.count()};
}

struct Mechanism {
  const char* name;
  Index heads, width;
  AttentionSpec spec;
};

std::vector<Mechanism> mechanisms(Index length, const Tensor& additive_vector) {
  const Mask sparse = Mask::causal() & Mask::bigbird({.positions = length});
  return {{"dense", 4, 64, {}},
          {"dense, causal", 4, 64, {.mask = Mask::causal()}},
          {"bigbird, causal", 4, 64, {.mask = sparse}},
          {"linear", 4, 64, {.score = Score::features({}), .normaliser = Normaliser::sum()}},
          {"linear, causal",
           4,
           64,
           {.score = Score::features({}), .mask = Mask::causal(), .normaliser = Normaliser::sum()}},
          {"additive", 1, 32, {.score = Score::additive(additive_vector)}}};
}

// Prints what both calls take; returns the larger peak.
double run(const Mechanism& m, DType dtype, Index length, int threads, double limit) {
  set_thread_count(threads);
  const auto rows = [&](std::uint64_t seed) { return random_tensor(dtype, {1, m.heads, length, m.width}, seed); };
  const Tensor q = rows(1), k = rows(2), v = rows(3), dout = rows(4);
  const Tensor out = Tensor::zeros_like(q), stat = Tensor::zeros(DType::f32, {1, m.heads, length});
  const Tensor dq = Tensor::zeros_like(q), dk = Tensor::zeros_like(k), dv = Tensor::zeros_like(v);
  const Cost forward = measure([&] {
    Workspace workspace;
    attention(q, k, v, m.spec, {.out = out, .row_stat = stat}, workspace);
  });
  const Cost backward = measure([&] {
    Workspace workspace;
    attention_backward(q, k, v, m.spec, {.out = out, .row_stat = stat, .dout = dout}, {.dq = dq, .dk = dk, .dv = dv},
                       workspace);
  });
  const double worst = std::max(forward.mebibytes, backward.mebibytes);
  const std::string explained = explain(q, k, v, m.spec);
  fmt::print("{:16} {:10} {:5} {:2} {:7} {:9.2f} {:9.2f} {:8.3f} {:8.2f} {:8.2f}\n", m.name,
             explained.substr(0, explained.find(' ')), name_of(dtype), m.heads, threads, forward.mebibytes,
             backward.mebibytes, worst / limit, forward.seconds, backward.seconds);
  std::fflush(stdout);
  return worst;
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  using namespace heed;
  const Index length = argc > 1 ? std::atoll(argv[1]) : 16384;
  const double limit = argc > 2 ? std::atof(argv[2]) : 64;
  const std::string only = argc > 3 ? argv[3] : "";
  const Tensor additive_vector = random_tensor(DType::f32, {32}, 5);
  std::vector<Mechanism> wanted;
  if (length >= 1) wanted = mechanisms(length, additive_vector);
  if (!only.empty()) std::erase_if(wanted, [&](const Mechanism& mechanism) { return mechanism.name != only; });
  if (wanted.empty() || limit <= 0) {
    fmt::print(stderr, "usage: {} [LENGTH >= 1] [LIMIT IN MIB > 0] [MECHANISM]\n", argv[0]);
    return 2;
  }
  fmt::print(
      "Lq = Lk = {}: peak MiB beside inputs, outputs and gradients; limit {} MiB; a head's f32 scores are {} MiB\n",
      length, limit, static_cast<double>(length * length * 4) / kMebibyte);
  fmt::print("{:16} {:10} {:5} {:>2} {:>7} {:>9} {:>9} {:>8} {:>8} {:>8}\n", "", "plan", "type", "H", "threads",
             "forward", "backward", "of limit", "fwd s", "bwd s");
  double worst = 0;
  for (const Mechanism& mechanism : wanted)
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const int threads : {1, 2}) worst = std::max(worst, run(mechanism, dtype, length, threads, limit));
  if (worst > limit) fmt::print("above the limit: {:.2f} MiB\n", worst);
  return worst > limit ? 1 : 0;
}
