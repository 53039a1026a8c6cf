// The one way up: how an attention layer shows its weights to someone who asked for them.
//
//   struct Entropy : AttentionObserver {
//     bool wants(const AttentionSite& site) const override { return site.kind == AttentionKind::cross; }
//     void on_weights(const AttentionSite& site, ConstView weights) override { ... }
//   };
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "heed/tensor/view.h"

namespace heed {

// What attends to what: source to source, target to target, target to source.
enum class AttentionKind : std::uint8_t { encoder, decoder, cross };

std::span<const std::pair<std::string_view, AttentionKind>> enum_names(AttentionKind);

// One attention layer of a model.
struct AttentionSite {
  std::string_view path;  // of its parameters in the checkpoint: "decoder.layers.3.multihead_attn"
  AttentionKind kind = AttentionKind::encoder;
};

// Called by attention layers during a forward pass, from the thread that runs it, in the order of the layers.
struct AttentionObserver {
  virtual ~AttentionObserver() = default;
  // Whether on_weights should be called for this site: its weights are computed for nobody else.
  virtual bool wants(const AttentionSite& site) const = 0;
  // weights: f32 [B, H, Lq, Lk], any strides, after the normaliser and before dropout; the memory is the caller's again
  // when this returns. A model that decodes step by step calls once a step with the queries of that step and the keys
  // so far.
  virtual void on_weights(const AttentionSite& site, ConstView weights) = 0;
};

}  // namespace heed
