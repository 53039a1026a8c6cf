#include "heed/kernels/target.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "heed/base/check.h"
#include "heed/kernels/dispatch.h"

namespace heed {
namespace {

// Highway keeps its own mock of the CPU; this is what it was told, 0 for nothing.
std::int64_t g_told = 0;

// The targets regardless of what is forced. Asked for once, before anything is forced.
const std::vector<std::int64_t>& all_targets() {
  static const std::vector<std::int64_t> targets = [] {
    const std::vector<int64_t> found =
        hwy::SupportedAndGeneratedTargets();  // lowest bit first, which is the best first
    return std::vector<std::int64_t>(found.begin(), found.end());
  }();
  return targets;
}

std::string target_names() {
  std::string names;
  for (std::int64_t target : all_targets())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", simd_target_name(target));
  return names;
}

// What HEED_TARGET names; 0 where it is not set.
std::int64_t environment_target() {
  const char* name = std::getenv("HEED_TARGET");
  if (name == nullptr || *name == '\0') return 0;
  for (std::int64_t target : all_targets())
    if (simd_target_name(target) == name) return target;
  fail("HEED_TARGET: \"{}\" is not one of this machine's targets: {}", name, target_names());
}

void tell_highway(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  g_told = target;
  kernels::g_target_is_chosen.store(true, std::memory_order_release);
}

}  // namespace

std::atomic<bool> kernels::g_target_is_chosen{false};

void kernels::choose_target() {
  // Once, however many threads come first; after a throw the next call begins anew.
  [[maybe_unused]] static const bool told = [] {
    if (const std::int64_t target = environment_target(); target != 0) tell_highway(target);
    g_target_is_chosen.store(true, std::memory_order_release);
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
  tell_highway(target != 0 ? target : environment_target());
}

std::int64_t active_simd_target() {
  kernels::require_target();
  return g_told != 0 ? g_told : all_targets().front();
}

}  // namespace heed
