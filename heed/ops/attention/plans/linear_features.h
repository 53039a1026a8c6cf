// The feature map of linear attention, over rows.
//
//   const LinearFeatures features(problem, workspace);
//   features.map(rows, {q, q_row}, phi);
#pragma once

#include "heed/base/workspace.h"
#include "heed/kernels/gemm_tile.h"
#include "heed/ops/attention/problem/attention_problem.h"

namespace heed {

class LinearFeatures {
 public:
  // Reads the problem; a projection is copied into memory of the workspace.
  LinearFeatures(const AttentionProblem& c, Workspace& workspace);

  // y [count, M] of x [count, D].
  void map(Index count, kernels::Matrix x, float* y) const;

  // Whether backward() reads x.
  bool reads_inputs() const { return projection_ != nullptr; }
  // dx [count, D], whose rows are dx_row floats apart, from dy [count, M], which is overwritten, where y = map(x).
  void backward(Index count, kernels::Matrix x, const float* y, float* dy, float* dx, Index dx_row) const;

 private:
  FeatureMap::Kind kind_;
  Index inputs_, outputs_;
  double root_scale_;
  float* projection_ = nullptr;  // [M, D]; null: each number by itself
  double* by_input_ = nullptr;   // its transpose
};

}  // namespace heed
