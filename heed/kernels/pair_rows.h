// Few rows of bf16 with many that lie in memory: those products of PairUnit (pair_unit.h), by either unit.
#pragma once

#include <hwy/detect_targets.h>

#include "heed/base/float16.h"
#include "heed/kernels/stored_rows.h"

#if HWY_ARCH_X86_64 && defined(__linux__)

#define HEED_PAIR_TARGET __attribute__((target("avx512f,avx512bw,avx512bf16")))

namespace heed::kernels {

void row_products_by_avx512(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                            FewRows<float> products);
void row_sums_by_avx512(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                        const float* decays, FewRows<float> sums);
void row_products_by_tiles(Index rows, const BFloat16* a, Index a_row, const StoredRows& stored, float alpha,
                           FewRows<float> products);
void row_sums_by_tiles(Index rows, const BFloat16* weights, Index weights_row, const StoredRows& stored,
                       const float* decays, FewRows<float> sums);

}  // namespace heed::kernels

#endif
