#include "heed/kernels/ask_ahead.h"

#include <hwy/detect_targets.h>

#if HWY_ARCH_X86_64
#include <cpuid.h>
#endif

namespace heed::kernels {
namespace {

#if HWY_ARCH_X86_64

AskAhead look() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(0, &a, &b, &c, &d);  // the vendor's name
  const bool amd = b == signature_AMD_ebx, intel = b == signature_INTEL_ebx;
  __get_cpuid(1, &a, &b, &c, &d);
  const unsigned family = (a >> 8 & 0xF) + (a >> 20 & 0xFF);
  constexpr unsigned kZen5 = 0x1A;
  if (amd && family >= kZen5) return {.bytes = 8192, .into_first_cache = true, .by_address = true, .in_runs = true};
  return intel ? AskAhead{.by_address = true, .again = true} : AskAhead{};
}

#else

AskAhead look() { return {}; }

#endif

}  // namespace

AskAhead ask_ahead() {
  static const AskAhead found = look();
  return found;
}

}  // namespace heed::kernels
