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

HEED_DIGIT_INLINE __m512d in_f64(__m256i numbers) { return _mm512_maskz_cvtepi32_pd(kEights, numbers); }

// What digits of three places have summed up to.
HEED_DIGIT_INLINE __m512d total_of(__m256i high, __m256i middle, __m256i low) {
  const __m512d base = _mm512_set1_pd(256);
  return _mm512_fmadd_pd(_mm512_fmadd_pd(in_f64(high), base, in_f64(middle)), base, in_f64(low));
}

HEED_DIGIT_INLINE __m256 scaled(__m512d totals, __m512d units, __m256 scales) {
  const __m512d factors = _mm512_mul_pd(units, _mm512_maskz_cvtps_pd(kEights, scales));
  return _mm512_maskz_cvtpd_ps(kEights, _mm512_mul_pd(totals, factors));
}

}  // namespace heed::kernels

#endif
