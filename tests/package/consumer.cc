// A user's program: one call of the installed library, whose header needs no other before it.
#include "heed/attention.h"

#include <cmath>
#include <cstdio>

int main() {
  using namespace heed;
  // One head, two queries, two keys; causal, so that the first query sees the first key alone.
  float q[] = {1, 0, 1, 0, 1, 1}, k[] = {1, 1, 0, 0, 1, 1}, v[] = {1, 2, 3, 4}, out[4];
  Workspace workspace;
  try {
    attention(make_view(q, {1, 1, 2, 3}), make_view(k, {1, 1, 2, 3}), make_view(v, {1, 1, 2, 2}),
              {.mask = Mask::causal()}, {.out = make_view(out, {1, 1, 2, 2})}, workspace);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("%g %g\n%g %g\n", out[0], out[1], out[2], out[3]);
  return std::abs(out[0] - 1) < 1e-6 && std::abs(out[1] - 2) < 1e-6 && out[2] > 1 && out[2] < 3 ? 0 : 2;
}
