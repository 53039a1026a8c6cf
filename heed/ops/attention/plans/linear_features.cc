#include "heed/ops/attention/plans/linear_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/kernels/feature_map.h"
#include "heed/tensor/row_storage.h"

namespace heed {

LinearFeatures::LinearFeatures(const AttentionProblem& c, Workspace& workspace)
    : kind_(c.spec.score.feature_map.kind),
      inputs_(c.width),
      outputs_(c.features),
      root_scale_(std::sqrt(c.feature_scale)) {
  if (kind_ != FeatureMap::Kind::positive_random) return;
  projection_ = workspace.take<float>(outputs_ * inputs_), by_input_ = workspace.take<double>(outputs_ * inputs_);
  const ConstView& rows = c.spec.score.feature_map.projection.view();
  for (Index m = 0; m < outputs_; ++m) {
    load_row(rows, rows.offset({m}), inputs_, projection_ + m * inputs_);
    for (Index d = 0; d < inputs_; ++d) by_input_[d * outputs_ + m] = projection_[m * inputs_ + d];
  }
}

void LinearFeatures::map(Index count, kernels::Matrix x, float* y) const {
  switch (kind_) {
    case FeatureMap::Kind::elu_plus_one:
      return kernels::elu_plus_one_rows(count, inputs_, x.data, x.row, y);
    case FeatureMap::Kind::relu:
      return kernels::relu_rows(count, inputs_, x.data, x.row, y);
    case FeatureMap::Kind::positive_random:
      break;
  }
  const kernels::RandomProjection projection{inputs_, outputs_, by_input_, root_scale_};
  kernels::positive_random_rows(projection, count, x.data, x.row, y);
}

void LinearFeatures::backward(Index count, kernels::Matrix x, const float* y, float* dy, float* dx,
                              Index dx_row) const {
  switch (kind_) {
    case FeatureMap::Kind::elu_plus_one:
      return kernels::elu_plus_one_gradient_rows(count, inputs_, y, dy, dx, dx_row);
    case FeatureMap::Kind::relu:
      return kernels::relu_gradient_rows(count, inputs_, y, dy, dx, dx_row);
    case FeatureMap::Kind::positive_random:
      break;
  }
  std::array<float, 64> sums;
  for (Index begin = 0; begin < count; begin += std::ssize(sums)) {
    const Index rows = std::min(count - begin, std::ssize(sums));
    float *flow = dy + begin * outputs_, *to = dx + begin * dx_row;
    kernels::positive_random_flow_rows(rows, outputs_, y + begin * outputs_, flow, sums.data());
    kernels::in_chains({.m = rows,
                        .n = inputs_,
                        .k = outputs_,
                        .a = {flow, outputs_},
                        .b = {projection_, inputs_},
                        .c = to,
                        .c_row = dx_row},
                       kernels::gemm_tile);
    kernels::positive_random_gradient_rows(rows, inputs_, x.data + begin * x.row, x.row, sums.data(),
                                           static_cast<float>(root_scale_), to, dx_row);
  }
}

}  // namespace heed
