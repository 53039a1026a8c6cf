#include "attention_maps.h"

#include <algorithm>

#include "heed/base/check.h"

namespace heed::conformance {

void AttentionMaps::on_weights(const AttentionSite&, ConstView weights) {
  const Tensor layer = Tensor::empty(DType::f32, {weights.shape[1], weights.shape[2], weights.shape[3]});
  float* to = layer.data<float>();
  for (Index head = 0; head < weights.shape[1]; ++head) {
    for (Index query = 0; query < weights.shape[2]; ++query) {
      for (Index key = 0; key < weights.shape[3]; ++key) *to++ = weights.at<float>({0, head, query, key});
    }
  }
  layers_.push_back(layer);
}

Tensor AttentionMaps::stacked() const {
  HEED_CHECK(!layers_.empty(), "AttentionMaps: no layer of the model attends in this way");
  const Tensor& first = layers_.front();
  const Tensor all = Tensor::empty(DType::f32, {std::ssize(layers_), first.dim(0), first.dim(1), first.dim(2)});
  float* to = all.data<float>();
  for (const Tensor& layer : layers_) to = std::copy_n(layer.data<float>(), layer.size(), to);
  return all;
}

}  // namespace heed::conformance
