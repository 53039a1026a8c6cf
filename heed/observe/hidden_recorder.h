// Keeps what some layers of a Transformer hand on.
//
//   HiddenRecorder recorder(EmbeddedSide::source, 0, layers);
//   model.encode(Context::inference(workspace, &recorder), tokens);
//   recorder.layer(3);   // [B, L, width]
#pragma once

#include <vector>

#include "heed/observe/observer.h"
#include "heed/tensor/tensor.h"

namespace heed {

class HiddenRecorder : public AttentionObserver {
 public:
  // Layers first to last of a side, numbered as on_hidden numbers them.
  HiddenRecorder(EmbeddedSide side, Index first, Index last);

  // f32 [B, L, width], of the last pass; empty before one, and for what the model does not have.
  const Tensor& layer(Index layer) const { return hidden_[static_cast<std::size_t>(layer - first_)]; }

  bool wants(const AttentionSite&) const override { return false; }
  void on_weights(const AttentionSite&, ConstView) override {}
  bool wants_hidden(EmbeddedSide side, Index layer) const override;
  void on_hidden(EmbeddedSide side, Index layer, ConstView hidden) override;

 private:
  EmbeddedSide side_;
  Index first_;
  std::vector<Tensor> hidden_;
};

}  // namespace heed
