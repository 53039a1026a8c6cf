#include "heed/tasks/bench/machine_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/activation.h"
#include "heed/kernels/dot_units.h"
#include "heed/kernels/machine_limits.h"
#include "heed/kernels/pair_unit.h"
#include "heed/kernels/target.h"
#include "heed/tasks/bench/machine.h"
#include "heed/tasks/bench/timing.h"
#include "heed/tensor/tensor.h"

namespace heed {
namespace {

constexpr double kSampleSeconds = 0.004;  // so long that to begin and end a loop on threads hardly counts

// 10^9 a second of what a chunk does `amount` of, where all threads do chunks. A chunk takes some 50 microseconds.
double rate_of(double amount, double seconds, const std::function<void(int thread)>& chunk) {
  const double once = time_work([&] { chunk(0); }, 0).fastest;
  const double sample = std::min(kSampleSeconds, seconds / kLeastSamples);
  const Index chunks = thread_count() * static_cast<Index>(std::max(1.0, sample / std::max(once, 1e-9)));
  const Timing timing = time_work(
      [&] { parallel_for(chunks, 1, loop_threads(chunks, 1), [&](Index, Index, int thread) { chunk(thread); }); },
      seconds);
  return amount * static_cast<double>(chunks) / timing.fastest / kGiga;
}

// Two operations for each multiply-add.
double multiply_add_rate(Index (*multiply_adds)(Index), Index steps, double seconds) {
  return rate_of(2 * static_cast<double>(multiply_adds(steps)), seconds, [&](int) { multiply_adds(steps); });
}

BenchLimit f32_limit(double seconds) {
  constexpr Index kSteps = 1 << 14;
  return {.rate = multiply_add_rate(kernels::multiply_adds, kSteps, seconds),
          .unit = "GFLOP/s",
          .note = std::string(simd_target_name(active_simd_target()))};
}

// The rate of the widest unit; the note has those of the others.
BenchLimit dot_unit_limit(const std::vector<kernels::DotUnit>& units, const char* unit_of_rate, double seconds) {
  constexpr Index kSteps = 1 << 12;
  BenchLimit limit{.unit = unit_of_rate};
  for (const kernels::DotUnit& unit : units) {
    const double rate = multiply_add_rate(unit.multiply_adds, kSteps, seconds);
    limit.note += limit.note.empty() ? std::string(unit.name) : fmt::format("; {} has {:.1f}", unit.name, rate);
    if (limit.rate == 0) limit.rate = rate;
  }
  if (units.empty()) limit.note = "none: the processor or the SIMD target has no such unit";
  return limit;
}

BenchLimit function_limit(double seconds, void (*function)(const float* x, float* y, Index n)) {
  constexpr Index kElements = 2048, kPasses = 64;  // both arrays are 16 KiB
  const Tensor x = Tensor::empty(DType::f32, {kElements}), y = Tensor::empty(DType::f32, {thread_count(), kElements});
  for (Index i = 0; i < kElements; ++i) x.data<float>()[i] = -0.01f * static_cast<float>(i);
  const double rate = rate_of(static_cast<double>(kElements * kPasses), seconds, [&](int thread) {
    for (Index pass = 0; pass < kPasses; ++pass) {
      function(x.data<float>(), y.data<float>() + thread * kElements, kElements);
    }
  });
  return {.rate = rate, .unit = "G/s"};
}

void tanh_each(const float* x, float* y, Index n) {
  kernels::activate(Activation::tanh, x, y, static_cast<std::size_t>(n));
}

BenchLimit cache_limit(double seconds, Index bytes) {
  constexpr Index kChunkBytes = Index{1} << 22;
  const Index elements = bytes / Index{sizeof(float)};
  const Tensor x = Tensor::zeros(DType::f32, {thread_count(), elements});
  const double rate = rate_of(static_cast<double>(kChunkBytes), seconds, [&](int thread) {
    for (Index pass = 0; pass < kChunkBytes / bytes; ++pass) {
      kernels::sum_of(x.data<float>() + thread * elements, elements);
    }
  });
  return {.rate = rate, .unit = "GB/s", .note = fmt::format("{} KiB of each thread's own", bytes >> 10)};
}

// Fewer begin too often: a core reads fastest in runs that go on.
constexpr Index kReadFloats = (Index{1} << 20) / Index{sizeof(float)};

BenchLimit memory_limit(double seconds) {
  const Index elements = beyond_cache_bytes() / Index{sizeof(float)};
  const Tensor x = Tensor::empty(DType::f32, {elements});
  float* const data = x.data<float>();
  parallel_for(elements, kReadFloats, [&](Index begin, Index end) { std::fill(data + begin, data + end, 1.0f); });
  const Timing timing = time_work([&] { read_memory({data, static_cast<std::size_t>(elements)}); }, seconds);
  const Index bytes = elements * Index{sizeof(float)};
  return {.rate = static_cast<double>(bytes) / timing.fastest / kGiga,
          .unit = "GB/s",
          .note = fmt::format("{} MiB", bytes >> 20)};
}

BenchLimit measure(Limit limit, double seconds) {
  switch (limit) {
    case Limit::multiply_add_f32:
      return f32_limit(seconds);
    case Limit::multiply_add_bf16:
      return dot_unit_limit(kernels::bf16_units(), "GFLOP/s", seconds);
    case Limit::multiply_add_int8:
      return dot_unit_limit(kernels::int8_units(), "GOP/s", seconds);
    case Limit::exp:
      return function_limit(seconds, kernels::exp_each);
    case Limit::tanh:
      return function_limit(seconds, tanh_each);
    case Limit::dram_read:
      return memory_limit(seconds);
    case Limit::l1_read:
      return cache_limit(seconds, Index{16} << 10);
    case Limit::l2_read:
      return cache_limit(seconds, Index{256} << 10);
  }
  return {};
}

}  // namespace

Limit multiply_add_limit(DType type) {
  const bool narrow = type == DType::bf16 && kernels::pair_unit() != nullptr;
  return narrow ? Limit::multiply_add_bf16 : Limit::multiply_add_f32;
}

BenchLimit measure_limit(Limit limit, double seconds) {
  BenchLimit result = measure(limit, seconds);
  result.name = enum_name(limit);
  return result;
}

void read_memory(std::span<const float> x) {
  const Index size = static_cast<Index>(x.size());
  parallel_for(size, shared_grain(size, kReadFloats),  // of little more than a MiB one thread would read nearly all
               [&](Index begin, Index end) { kernels::sum_of(x.data() + begin, end - begin); });
}

}  // namespace heed
