// The attention weights of a model's layers.
//
//   AttentionMaps maps(AttentionKind::cross);
//   Context context = Context::inference(workspace);
//   context.observer = &maps;
//   model.features(context, batch);
//   maps.stacked();                               // [layers, heads, queries, keys]
#pragma once

#include <vector>

#include "heed/observe/observer.h"
#include "heed/tensor/tensor.h"

namespace heed::conformance {

// Those of one kind of layers, of one sequence.
class AttentionMaps final : public AttentionObserver {
 public:
  explicit AttentionMaps(AttentionKind kind) : kind_(kind) {}

  bool wants(const AttentionSite& site) const override { return site.kind == kind_; }
  void on_weights(const AttentionSite& site, ConstView weights) override;
  // Throws heed::Error where no layer showed any.
  Tensor stacked() const;

 private:
  AttentionKind kind_;
  std::vector<Tensor> layers_;
};

}  // namespace heed::conformance
