#include "heed/kernels/target.h"

#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include "heed/base/check.h"
#include "heed/kernels/dispatch.h"

namespace heed {
namespace {

// The target in use; 0 until one is chosen.
std::int64_t g_target = 0;

// Whether the processor, and the system that keeps its registers, has what Highway compiles the target with. LZCNT and
// F16C, which not every compiler asks for by name, came with or before AVX2 and its multiply-adds.
bool has_target([[maybe_unused]] std::int64_t target) {
  if (target == HWY_STATIC_TARGET || target == HWY_SCALAR || target == HWY_EMU128) return true;
#if HWY_ARCH_X86
  __builtin_cpu_init();
  const bool sse4 =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return (target == HWY_SSE4 && sse4) || (target == HWY_AVX2 && avx2) || (target == HWY_AVX3 && avx512);
#else
  return false;
#endif
}

// The targets regardless of what is forced; the lowest bit is the best.
const std::vector<std::int64_t>& all_targets() {
  static const std::vector<std::int64_t> targets = [] {
    std::vector<std::int64_t> found;
    for (std::uint64_t left = HWY_TARGETS; left != 0; left &= left - 1) {
      const auto target = static_cast<std::int64_t>(left & (~left + 1));
      if (has_target(target)) found.push_back(target);
    }
    return found;
  }();
  return targets;
}

std::string target_names() {
  std::string names;
  for (std::int64_t target : all_targets())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", simd_target_name(target));
  return names;
}

// What HEED_TARGET names; the best where it is not set.
std::int64_t environment_target() {
  const char* name = std::getenv("HEED_TARGET");
  if (name == nullptr || *name == '\0') return all_targets().front();
  for (std::int64_t target : all_targets())
    if (simd_target_name(target) == name) return target;
  fail("HEED_TARGET: \"{}\" is not one of this machine's targets: {}", name, target_names());
}

// In HWY_CHOOSE_TARGET_LIST, behind which the fallback stands.
int index_of(std::int64_t target) {
  constexpr int kFirst = HWY_HIGHEST_TARGET_BIT + 1 - HWY_MAX_DYNAMIC_TARGETS;
  return std::min(std::countr_zero(static_cast<std::uint64_t>(target)) - kFirst, HWY_MAX_DYNAMIC_TARGETS);
}

void use_target(std::int64_t target) {
  g_target = target;
  kernels::g_target_index.store(index_of(target), std::memory_order_release);
}

}  // namespace

std::atomic<int> kernels::g_target_index{-1};

void kernels::choose_target() {
  // Once, however many threads come first; after a throw the next call begins anew.
  [[maybe_unused]] static const bool chosen = [] {
    use_target(environment_target());
    return true;
  }();
}

std::vector<std::int64_t> simd_targets() { return all_targets(); }

std::string_view simd_target_name(std::int64_t target) { return hwy::TargetName(target); }

void force_simd_target(std::int64_t target) {
  const auto& targets = all_targets();
  HEED_CHECK(target == 0 || std::find(targets.begin(), targets.end(), target) != targets.end(),
             "force_simd_target: {} ({:#x}) is not one of this machine's targets: {}", simd_target_name(target), target,
             target_names());
  use_target(target != 0 ? target : environment_target());
}

std::int64_t active_simd_target() {
  kernels::require_target();
  return g_target;
}

}  // namespace heed
