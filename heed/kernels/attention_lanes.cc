#include "heed/kernels/attention_lanes.h"

#include "heed/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "heed/kernels/attention_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

void score_kernel(const AttentionLanes& t, float* tile) {
  const Floats d;
  const Block<Beside::anything, false, true> block(t);
  for (Index row = 0; row < t.lanes; row += kLanes)
    for (Index key = 0; key < t.keys; ++key) {
      float* at = tile + key * t.lanes + row;
      hn::StoreU(block.score(hn::LoadU(d, at), key, row), d, at);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_EXPORT(score_kernel);

void score_lanes(const AttentionLanes& block, float* tile) { HEED_DISPATCH(score_kernel)(block, tile); }

}  // namespace heed::kernels
#endif
