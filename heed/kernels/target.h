// Which instruction set the kernels use.
//
//   for (std::int64_t target : simd_targets()) { force_simd_target(target); run(); }
//   force_simd_target(0);                                      // as at the start again
//
// The environment variable HEED_TARGET (a name of simd_target_name: AVX3, AVX2, SSE4, SCALAR, NEON, ...) forces
// one for the whole process. It is read when the first kernel runs; where it names no target of this machine, every
// kernel throws heed::Error with the names there are, and so does each operator that uses one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed {

// The instruction sets that this machine has and the kernels were compiled for, the best first. Never empty.
std::vector<std::int64_t> simd_targets();

// The name that HEED_TARGET takes.
std::string_view simd_target_name(std::int64_t target);

// Makes every kernel use `target`, one of simd_targets(); 0 chooses HEED_TARGET's again, or else the best. For tests
// and measurements: not to be called while a kernel runs. Throws heed::Error for a target that this machine lacks.
void force_simd_target(std::int64_t target);

// The instruction set in use. Throws heed::Error where HEED_TARGET names none of simd_targets().
std::int64_t active_simd_target();

}  // namespace heed
