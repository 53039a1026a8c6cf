#include "heed/kernels/target.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "heed/base/check.h"

namespace heed {
namespace {

// Highway keeps its own mock of the CPU; this is what it was told, 0 for nothing.
std::int64_t g_forced = 0;

// The targets regardless of what is forced. Asked for once, before anything is forced.
const std::vector<std::int64_t>& all_targets() {
  static const std::vector<std::int64_t> targets = [] {
    const std::vector<int64_t> found =
        hwy::SupportedAndGeneratedTargets();  // lowest bit first, which is the best first
    return std::vector<std::int64_t>(found.begin(), found.end());
  }();
  return targets;
}

void tell_highway(std::int64_t target) {
  g_forced = target;
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

const char* environment_target() {
  const char* name = std::getenv("HEED_TARGET");
  return name != nullptr && *name != '\0' ? name : nullptr;
}

// 0 where the environment names no target or one that is not here.
std::int64_t find_environment_target() {
  const char* name = environment_target();
  if (name == nullptr) return 0;
  for (std::int64_t target : all_targets())
    if (simd_target_name(target) == name) return target;
  return 0;
}

// Before main(), so that no kernel ever runs on another target. It cannot throw here; active_simd_target() reports a
// bad name.
[[maybe_unused]] const bool g_environment_applied = [] {
  if (const std::int64_t target = find_environment_target(); target != 0) tell_highway(target);
  return true;
}();

std::string target_names() {
  std::string names;
  for (std::int64_t target : all_targets())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", simd_target_name(target));
  return names;
}

}  // namespace

std::vector<std::int64_t> simd_targets() { return all_targets(); }

std::string_view simd_target_name(std::int64_t target) { return hwy::TargetName(target); }

void force_simd_target(std::int64_t target) {
  const auto& targets = all_targets();
  HEED_CHECK(target == 0 || std::find(targets.begin(), targets.end(), target) != targets.end(),
             "force_simd_target: {} ({:#x}) is not one of this machine's targets: {}", simd_target_name(target), target,
             target_names());
  tell_highway(target);
}

std::int64_t active_simd_target() {
  if (g_forced != 0) return g_forced;
  const char* name = environment_target();
  HEED_CHECK(name == nullptr || find_environment_target() != 0,
             "HEED_TARGET: \"{}\" is not one of this machine's targets: {}", name, target_names());
  return all_targets().front();
}

}  // namespace heed
