// A bias laid over one problem: its parts summed for a stretch of a row, and their gradients. It reads the tensors of
// the bias, which the problem's spec keeps alive.
//
//   BiasRows bias(spec.bias, mask, shape, DType::f32, "attention");
//   bias.add(b, h, i, {0, 64}, scores);                      // scores[j] += b_ij
//   bias.add_gradient(b, h, i, {0, 64}, dscores, grad);
#pragma once

#include <vector>

#include "heed/ops/attention/spec/mask.h"
#include "heed/ops/attention/spec/results.h"
#include "heed/ops/attention/spec/spec.h"

namespace heed {

class BiasRows {
 public:
  BiasRows() = default;
  // `number` is the type of the learned parts: f32, or f64. Throws heed::Error, naming `caller`, where a part does not
  // fit the problem.
  BiasRows(const Bias& bias, const MaskRows& mask, const MaskShape& shape, DType number, const char* caller);

  // Whether there is anything to add.
  bool active() const { return dense_ || alibi_ || table_ || centre_; }
  // Whether all heads read the same dense numbers.
  bool is_shared_by_heads() const { return dense_ && dense_.stride[1] == 0; }
  // Whether b_ij depends on the head and on how far the key is from the query alone, so that b_ij = b_i+1,j+1.
  bool goes_by_distance() const { return (alibi_ || table_) && !dense_ && !centre_; }
  // Then: numbers[n] = b_ij of each query i and key j with i - j = distances.begin + n, whether there are such or not.
  void fill_by_distance(Index b, Index h, Range distances, float* numbers) const;
  // Row i where it lies, floats one after another, if that is all there is to the bias; else null. The next row is
  // `row_stride` floats further.
  const float* floats(Index b, Index h, Index i, Index& row_stride) const;
  // scores[j - keys.begin] += b_ij. Sum is float or double.
  template <typename Sum>
  void add(Index b, Index h, Index i, Range keys, Sum* scores) const;
  // Adds the gradients of the learned parts that are wanted, from dscores[j - keys.begin] = dL / db_ij. Rows that share
  // a number must come one after another.
  template <typename Sum>
  void add_gradient(Index b, Index h, Index i, Range keys, const Sum* dscores, const AttentionGrad& grad) const;

 private:
  Index bucket(Index distance) const;  // of the key after the query
  // As add(), of the parts that go by distance: numbers[n] += that of the key `first + n * step` after the query.
  template <typename Sum>
  void add_by_distance(Index h, Index first, Index step, Index count, Sum* numbers) const;

  // Of dense, alibi, the relative table and the Gaussian's centre; strides are 0 where an extent of 1 stands for all.
  ConstView dense_, alibi_, table_, centre_;
  double inverse_sigma_ = 1;           // of the Gaussian
  MaskRows mask_;                      // for positions, where a part asks for them
  std::vector<Index> before_, after_;  // T5's bucket of each distance up to max_distance
};

}  // namespace heed
