// The heads of an encoder: a vector for a sequence, classes, and words that a mask hides (Devlin et al. 2019). A model
// with a decoder may have the first two over that, whose last token has read all of a sequence (Radford et al. 2018).
//
//   const Var hidden = model.encode(context, batch);                          // [B, L, width]
//   Var classes = model.heads().class_logits(context, hidden);                // [B, classes]
//   Var words = model.heads().masked_word_logits(context, hidden);            // [B, L, vocabulary]
#pragma once

#include "heed/base/error.h"
#include "heed/layers/embedding.h"
#include "heed/layers/linear.h"
#include "heed/layers/norm.h"
#include "heed/models/transformer_config.h"

namespace heed {

// Parameters: "pooler", "classifier", "distilled_classifier", and of masked words "masked_words.dense", ".norm",
// ".bias" and, where the output is not tied to the table of embeddings, ".weight"; those alone that
// config.encoder_heads has. Each function throws heed::Error where the model has not the head that it is of.
class EncoderHeads {
 public:
  EncoderHeads() = default;
  EncoderHeads(const ParameterScope& scope, const TransformerConfig& config, const Embedding& table);

  // The activation of a dense layer over the token that stands for each sequence: hidden [B, L, width] to [B, width].
  // It is an encoder's first, and a decoder's last: of the first lengths[b] (i32 [B]) where they are given, else of L.
  Var pooled(const Context& context, const Var& hidden, const Tensor& lengths = {}) const;
  // Unnormalised log-probabilities of the classes: hidden [B, L, width] to [B, classes], of tokens and spans to [B, L,
  // classes].
  Var class_logits(const Context& context, const Var& hidden, const Tensor& lengths = {}) const;
  // Those of each word in the place of each token, hidden [..., width] to [..., vocabulary]:
  // norm(activation(dense x)) E^T + bias, E the table of embeddings.
  Var masked_word_logits(const Context& context, const Var& hidden) const;

 private:
  // [B, width].
  Var of_sequences(const Context& context, const Var& hidden, const Tensor& lengths) const;
  // Those of a token of all sequences.
  Var at_token(const Context& context, const Var& hidden, Index token) const;

  EncoderHeadsOptions options_;
  bool reads_last_ = false;
  Activation masked_activation_ = Activation::gelu;
  Linear pooler_, classifier_, distilled_classifier_, masked_dense_;
  Norm masked_norm_;
  Var masked_weight_, masked_bias_;
};

}  // namespace heed
