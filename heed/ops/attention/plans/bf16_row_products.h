// The products of few rows of queries with many keys and values that are all bf16, by the same unit, and with the same
// bits, as Bf16Products gives those of many rows. There a row is a lane, of which few rows would leave most empty; here
// keys are lanes in the one product, and the dimensions of values in the other.
#pragma once

#include "heed/ops/attention/plans/bf16_block_rows.h"
#include "heed/ops/attention/plans/scratch_cut.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

class Bf16RowProducts {
 public:
  // For at most `rows` rows. The unit works for this thread from here to the destructor.
  Bf16RowProducts(const AttentionProblem& c, Index rows, ScratchCut& scratch);
  ~Bf16RowProducts();
  Bf16RowProducts(const Bf16RowProducts&) = delete;
  Bf16RowProducts& operator=(const Bf16RowProducts&) = delete;

  // `count` rows come, each to be read.
  void begin(Index count);
  void read_query(Index row, const BFloat16* q);
  void read_block(Index b, Index g, Range keys);
  // to[key, lane] = scale * (k . q), for a row to each lane.
  void scores(Index lanes, float* to);
  // out[row] = out[row] decay[row] + weights[., row] V, for weights [key, lane]. The first block's is all there is.
  void add_values(Index lanes, const float* weights, const float* decay);
  // What was added up, [Dv].
  const float* out(Index row) const { return out_ + row * value_sums_; }

 private:
  const AttentionProblem& c_;
  const kernels::PairUnit& unit_;
  const bool opened_;
  const Index depth_, value_depth_, value_sums_;
  Index rows_ = 0;   // of products: those that came, up to what the unit multiplies
  Index count_ = 0;  // those that came
  Index keys_ = 0;   // of the block
  bool started_ = false;
  BFloat16 *queries_ = nullptr, *k_ = nullptr, *v_ = nullptr, *rounded_ = nullptr;
  std::uint32_t *keys_turned_ = nullptr, *value_pairs_ = nullptr;
  float *by_row_ = nullptr, *sums_ = nullptr, *out_ = nullptr;
};

}  // namespace heed
