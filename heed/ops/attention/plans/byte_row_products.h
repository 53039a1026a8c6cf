// The products of few rows of queries with keys and values of int8, in whole numbers (kernels/byte_rows.h): what is
// rounded is a query, to 24 bits of its largest number, weights times the scales of their values likewise, and the f32
// that exact sums become.
#pragma once

#include "heed/kernels/byte_rows.h"
#include "heed/ops/attention/plans/float_rows.h"
#include "heed/ops/attention/plans/scratch_cut.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

// What DecodeRows (decode_rows.h) multiplies by. The unit works for this thread from begin() to the destructor.
class ByteRowProducts {
 public:
  static constexpr Index kMostRows = kernels::kMostByteRows, kLeastRows = kernels::kFewRows;
  static constexpr bool kNarrowWeights = false;

  ByteRowProducts(const AttentionProblem& c, Index rows, ScratchCut& scratch);
  ~ByteRowProducts();
  ByteRowProducts(const ByteRowProducts&) = delete;
  ByteRowProducts& operator=(const ByteRowProducts&) = delete;

  void begin(Index count);
  void read_query(Index row, Index b, Index h, Index i);
  void scores(Index b, Index g, Range keys, Range turn, Index end, float* to);
  void turn_to_values(Index b, Index g, Range keys, Range turn, Index end);
  void ask_ahead() { kernels::ask_for_some(values_); }
  void add_values(const float* weights, const float* decays);
  const float* out(Index row) const { return out_ + row * value_row_; }

 private:
  kernels::StoredRows block_rows(const RowsInTurn& turn, Index b, Index g, Range keys, std::int8_t* to);

  const AttentionProblem& c_;
  const kernels::ByteUnit& unit_;
  const Index row_, value_row_;  // bytes of a row, in whole lines
  kernels::StoredRows values_;
  Index count_ = 0;
  bool opened_ = false;
  float *query_ = nullptr, *added_ = nullptr, *out_ = nullptr, *scales_ = nullptr;
  std::int8_t *query_digits_ = nullptr, *weight_digits_ = nullptr, *k_ = nullptr, *v_ = nullptr;
  float *query_units_ = nullptr, *weight_units_ = nullptr;
  std::uint32_t* columns_ = nullptr;
};

}  // namespace heed
