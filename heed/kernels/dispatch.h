// How a kernel's entry calls the version of the instruction set in use: for kernels' .cc files alone.
//
//   HWY_EXPORT(softmax_kernel);
//   void softmax_row(const float* x, float* y, Index n) { HEED_DISPATCH(softmax_kernel)(x, y, n); }
#pragma once

#include <atomic>

namespace heed::kernels {

// Set once HEED_TARGET has been obeyed, or force_simd_target called.
extern std::atomic<bool> g_target_is_chosen;

// Obeys HEED_TARGET. Throws heed::Error, each time it is called, where that names no target of this machine.
void choose_target();

inline void require_target() {
  if (!g_target_is_chosen.load(std::memory_order_acquire)) [[unlikely]] {
    choose_target();
  }
}

}  // namespace heed::kernels

// Every entry goes through here, so that none runs on another target than HEED_TARGET's, whatever a program links and
// whichever it calls first.
#define HEED_DISPATCH(kernel) (::heed::kernels::require_target(), HWY_DYNAMIC_DISPATCH(kernel))
