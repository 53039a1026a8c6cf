// What this processor has beyond the SIMD targets, and lets the process use: units that multiply numbers of 16 or 8
// bits and add the products in 32. Highway 1.0.3 does not reach them.
#pragma once

namespace heed::kernels {

struct DotFeatures {
  bool avx512_bf16 = false, avx512_vnni = false, amx_bf16 = false, amx_int8 = false;
  // Whether AVX-512's products of bf16 outrun those of f32: AMD's processors multiply twice as many, Intel's half.
  bool avx512_bf16_is_wide = false;
};

// None where the SIMD target in use is less than AVX-512, which such a unit comes with.
DotFeatures dot_features();

}  // namespace heed::kernels
