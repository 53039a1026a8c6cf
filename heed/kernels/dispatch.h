// How a kernel's entry calls the version of the instruction set in use: for kernels' .cc files alone.
//
//   HEED_EXPORT(softmax_kernel);
//   void softmax_row(const float* x, float* y, Index n) { HEED_DISPATCH(softmax_kernel)(x, y, n); }
#pragma once

#include <atomic>
#include <cstddef>

namespace heed::kernels {

// Where the versions for the target in use stand in their tables; -1 until HEED_TARGET has been obeyed, or
// force_simd_target called.
extern std::atomic<int> g_target_index;

// Obeys HEED_TARGET. Throws heed::Error, each time it is called, where that names no target of this machine.
void choose_target();

inline void require_target() {
  if (g_target_index.load(std::memory_order_acquire) < 0) [[unlikely]] {
    choose_target();
  }
}
inline std::size_t target_index() {
  require_target();
  return static_cast<std::size_t>(g_target_index.load(std::memory_order_relaxed));
}

}  // namespace heed::kernels

// A table of what Highway has compiled, in the order of its targets, by its headers alone (decision 0039).
#define HEED_EXPORT(kernel)                                                                                      \
  static constexpr decltype(&HWY_STATIC_DISPATCH(kernel)) kernel##_versions[] = {HWY_CHOOSE_TARGET_LIST(kernel), \
                                                                                 HWY_CHOOSE_FALLBACK(kernel)}

// Every entry goes through here, so that none runs on another target than HEED_TARGET's, whatever a program links and
// whichever it calls first.
#define HEED_DISPATCH(kernel) (kernel##_versions[::heed::kernels::target_index()])
