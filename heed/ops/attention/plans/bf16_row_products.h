// The products of few rows of queries with many keys and values that are all bf16, by the same unit, and with the same
// bits, as Bf16Products gives those of many rows. There a row is a lane, of which few rows would leave most empty; here
// keys or values are met as they lie, as far as there are few rows enough (pair_rows.h).
#pragma once

#include "heed/kernels/stored_rows.h"
#include "heed/ops/attention/plans/bf16_block_rows.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/scratch_cut.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

// What DecodeRows (decode_rows.h) multiplies by. The unit works for this thread from begin() to the destructor.
class Bf16RowProducts {
 public:
  static constexpr Index kMostRows = 64, kLeastRows = kMostRows;
  static constexpr bool kNarrowWeights = true;
  // Whether so many rows meet keys and values where they lie; else those are turned first.
  static bool reads_in_place(Index rows) { return rows <= kernels::kFewRows; }

  Bf16RowProducts(const AttentionProblem& c, Index rows, ScratchCut& scratch);
  ~Bf16RowProducts();
  Bf16RowProducts(const Bf16RowProducts&) = delete;
  Bf16RowProducts& operator=(const Bf16RowProducts&) = delete;

  void begin(Index count);
  void read_query(Index row, Index b, Index h, Index i);
  void scores(Index b, Index g, Range keys, Range turn, Index end, float* to);
  void turn_to_values(Index b, Index g, Range keys, Range turn, Index end);
  void ask_ahead() { kernels::ask_for_some(values_); }
  void add_values(const float* weights, const float* decays);
  const float* out(Index row) const { return out_ + row * value_sums_; }

 private:
  kernels::StoredRows block_rows(const RowsInTurn& turn, Index b, Index g, Range keys, BFloat16* to) const;

  const AttentionProblem& c_;
  const kernels::PairUnit& unit_;
  const Index depth_, value_sums_;
  kernels::StoredRows values_;
  Index rows_ = 0;   // of products: those that came, up to what the unit multiplies
  Index count_ = 0;  // those that came
  bool opened_ = false, started_ = false;
  BFloat16 *queries_ = nullptr, *k_ = nullptr, *v_ = nullptr, *rounded_ = nullptr;
  std::uint32_t *keys_turned_ = nullptr, *value_pairs_ = nullptr;
  float *by_row_ = nullptr, *out_ = nullptr;
};

}  // namespace heed
