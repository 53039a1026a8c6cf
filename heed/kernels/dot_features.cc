#include "heed/kernels/dot_features.h"

#include <hwy/detect_targets.h>

#include "heed/kernels/target.h"

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace heed::kernels {
namespace {

#if HWY_ARCH_X86_64 && defined(__linux__)

// Linux lets a process use the tiles' large registers only after it has asked.
bool may_use_tiles() {
  constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}

DotFeatures look() {
  const auto has = [](unsigned word, int bit) { return (word >> bit & 1) != 0; };
  DotFeatures features;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return features;
  features.avx512_vnni = has(c, 11);
  const bool tiles = has(d, 24) && may_use_tiles();
  features.amx_bf16 = tiles && has(d, 22);
  features.amx_int8 = tiles && has(d, 25);
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) features.avx512_bf16 = has(a, 5);
  __get_cpuid(0, &a, &b, &c, &d);  // the vendor's name
  features.avx512_bf16_is_wide = features.avx512_bf16 && b != signature_INTEL_ebx;
  return features;
}

#else

DotFeatures look() { return {}; }

#endif

}  // namespace

DotFeatures dot_features() {
  static const DotFeatures found = look();
  return active_simd_target() > HWY_AVX3 ? DotFeatures{} : found;  // lower bits are better targets
}

}  // namespace heed::kernels
