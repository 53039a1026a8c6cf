#include "heed/kernels/gemm_tile.h"

#include "heed/kernels/dispatch.h"
#include "heed/kernels/gemm_ahead.h"
#include "heed/kernels/sized_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/gemm_tile.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

struct Multiply {
  static HWY_INLINE Vector add(Vector a, Vector b, Vector sum) { return hn::MulAdd(a, b, sum); }
};

void gemm_tile_kernel(const GemmTile& t, LinesAhead* ahead) { chain_tile<Multiply>(t, ahead); }

// (1 + e)^2 - (1 + 2e) is e^2 only if the product was not rounded.
bool is_fused_kernel() {
  const Floats d;
  const float one_and_e = 1.0f + 0x1p-12f;
  const Vector x = hn::Set(d, one_and_e);
  return hn::GetLane(hn::MulAdd(x, x, hn::Set(d, -(1.0f + 0x1p-11f)))) != 0.0f;
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(gemm_tile_kernel);
HEED_EXPORT(is_fused_kernel);

void gemm_tile(const GemmTile& tile) { HEED_DISPATCH(gemm_tile_kernel)(tile, nullptr); }
void gemm_tile_ahead(const GemmTile& tile, LinesAhead& ahead) { HEED_DISPATCH(gemm_tile_kernel)(tile, &ahead); }

bool gemm_tile_is_fused() { return HEED_DISPATCH(is_fused_kernel)(); }

}  // namespace heed::kernels
#endif
