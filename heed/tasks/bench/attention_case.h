// One attention problem on numbers of its own, to be computed again and again.
//
//   AttentionCase one({.queries = 512, .keys = 512}, {.mask = Mask::causal()}, BenchPass::forward);
//   one.run();  one.work().operations;
#pragma once

#include <string>
#include <vector>

#include "heed/base/workspace.h"
#include "heed/ops/attention/attention.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct AttentionShape {
  Index batch = 1, heads = 8, queries = 0, keys = 0, width = 64;
  Index key_heads = 0;  // 0: as many as heads
  DType dtype = DType::f32;
  bool int8_cache = false;  // keys and values are i8 with a scale for each row
};

enum class BenchPass { forward, backward, training };  // training: forward, then backward

// What a call does, counted as the field counts: 4 B H Lq Lk D operations forward (a multiply-add is two), by the share
// of the pairs that the mask allows (causal: a half), and 2.5 times as many backward. Linear attention: 4 B H L D D.
struct AttentionWork {
  double operations = 0, exponentials = 0, tanhs = 0, bytes = 0;
};

class AttentionCase {
 public:
  // q, k, v and the output's gradient [B, H, L, D] are normal. Calls take `key_copies` copies of k and v in turn, so
  // that they come from memory where all of them are larger than the caches.
  AttentionCase(const AttentionShape& shape, AttentionSpec spec, BenchPass pass, Index key_copies = 1);

  // The plans that compute it. Throws heed::Error where HEED_PLAN names one that cannot.
  std::string plan() const;
  // The share of all pairs of a query and a key that the mask allows, counted.
  double allowed_share() const;
  AttentionWork work() const;
  void run();
  // Reads the keys and values of a call, in place of it, and does nothing else that takes time.
  void read_keys();

 private:
  // Keys and values, and what they are multiplied by where they are i8.
  struct Cache {
    Tensor k, v;
    RowScales scales;
  };
  const Cache& next_cache();
  void forward(const Cache& cache);
  void backward(const Cache& cache);

  AttentionShape shape_;
  AttentionSpec spec_;
  BenchPass pass_;
  Tensor q_, out_, row_stat_, dout_, dq_, dk_, dv_;
  std::vector<Cache> caches_;
  std::size_t next_ = 0;  // of the copies
  Workspace workspace_;
};

}  // namespace heed
