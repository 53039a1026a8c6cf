// For what multiplies in AMX's tiles: kernels' .cc files alone.
#pragma once

#include <hwy/detect_targets.h>

#if HWY_ARCH_X86_64 && defined(__linux__)

#include <immintrin.h>

// Every processor that has tiles has the rest.
#define HEED_TILE_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni,f16c,amx-tile,amx-bf16,amx-int8")))

namespace heed::kernels {

// GCC 12 is not told what a tile's load reads, and so must not keep a store back, nor read early what a tile stores.
inline void finish_stores() { asm volatile("" ::: "memory"); }

}  // namespace heed::kernels

#endif
