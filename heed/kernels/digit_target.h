// For what multiplies bytes by AVX-512's dot products (VNNI): kernels' .cc files alone.
#pragma once

#include <hwy/detect_targets.h>

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

#define HEED_DIGIT_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c")))
#define HEED_DIGIT_INLINE HEED_DIGIT_TARGET __attribute__((always_inline)) inline

namespace heed::kernels {

// Of all lanes of 64 and of 32 bits: GCC 12 warns of what the forms without a mask leave undefined.
inline constexpr __mmask8 kEights = 0xFF;
inline constexpr __mmask16 kWords = 0xFFFF;

}  // namespace heed::kernels

#endif
