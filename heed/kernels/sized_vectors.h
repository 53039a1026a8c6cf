// For kernels' .cc files that keep vectors in arrays or classes or count on their size, before anything of Highway:
// leaves out the targets whose vectors have no size that is known when they are compiled, and SSSE3, as
// heed/CMakeLists.txt does for all.
#pragma once

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
