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

// What weights come from, where scores are dot products: scale * q . k, plus the bias, and then the mask and the
// normaliser.
struct AttentionScores {
  ConstView q, k;  // f32 [B, H, Lq, D] and [B, KV heads, Lk, D], as they meet: normalised and turned
  double scale = 1;
  ConstView bias{};  // f32 [B, H, Lq, Lk]; empty: nothing is added
};

// Which of a model's stacks of blocks, with its table of tokens.
enum class EmbeddedSide : std::uint8_t { source, decoder };

// Called by attention layers during a forward pass, from the thread that runs it, in the order of the layers.
struct AttentionObserver {
  virtual ~AttentionObserver() = default;
  // Whether on_weights should be called for this site: its weights are computed for nobody else.
  virtual bool wants(const AttentionSite& site) const = 0;
  // weights: f32 [B, H, Lq, Lk], any strides, after the normaliser and before dropout; the memory is the caller's again
  // when this returns. A model that decodes step by step calls once a step with the queries of that step and the keys
  // so far.
  virtual void on_weights(const AttentionSite& site, ConstView weights) = 0;

  // The same of scores, before the weights that come from them, where they are dot products.
  virtual bool wants_scores(const AttentionSite&) const { return false; }
  virtual void on_scores(const AttentionSite&, const AttentionScores&) {}
  // The vectors of a side's tokens, f32 [B, L, width], before and after their positions are added.
  virtual bool wants_embeddings(EmbeddedSide) const { return false; }
  virtual void on_embeddings(EmbeddedSide, ConstView /*before*/, ConstView /*after*/) {}
  // What a Transformer's side hands from block to block where it reads whole texts, f32 [B, L, width]: layer 0 is what
  // its first block reads, n what block n gives, and the last has been through the final norm, where there is one
  // and what is read is no picture.
  virtual bool wants_hidden(EmbeddedSide, Index /*layer*/) const { return false; }
  virtual void on_hidden(EmbeddedSide, Index /*layer*/, ConstView) {}
};

// Calls observer->on_embeddings, if there is one that wants them and they are f32.
void show_embeddings(AttentionObserver* observer, EmbeddedSide side, const ConstView& before, const ConstView& after);

// The same of on_hidden.
void show_hidden(AttentionObserver* observer, EmbeddedSide side, Index layer, const ConstView& hidden);

}  // namespace heed
