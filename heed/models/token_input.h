// What the first layer of a stack reads: each token's vector, its position and its type, added up.
//
//   TokenInput input(scope, "source", config, embedding);
//   Var x = input.forward(context, ids);
#pragma once

#include <string>

#include "heed/layers/embedding.h"
#include "heed/layers/linear.h"
#include "heed/layers/norm.h"
#include "heed/layers/positions.h"
#include "heed/models/transformer_config.h"
#include "heed/observe/observer.h"

namespace heed {

class TokenInput {
 public:
  TokenInput() = default;
  // `side` is "source" or "target", which begins the names: "source_positions". Token types are the source's.
  TokenInput(const ParameterScope& scope, const std::string& side, const TransformerConfig& config,
             const Embedding& embedding);

  // ids i32 [B, L] to [B, L, width]: norm(scale * embedding + position + type), with dropout,
  // and from the width of factorised embeddings mapped to the model's, of a decoder before positions are added.
  // Positions are 0, 1, ..., or those given, i32 [B, L], or those of config.padding_token. With config.zero_start a
  // target's embedding at position 0 is zero. `types` i32 [B, L] are those of a model that has them; empty: all 0.
  // Throws heed::Error past the positions that the model has, and for types that it has not.
  Var forward(const Context& context, const Tensor& ids, const Tensor& positions = {}, const Tensor& types = {}) const;

 private:
  Embedding embedding_, types_;
  Positions positions_;
  Norm norm_;
  Linear projection_;
  EmbeddedSide side_ = EmbeddedSide::source;
  bool has_types_ = false, has_norm_ = false, projects_ = false, projects_embeddings_ = false, zero_start_ = false;
  Index padding_token_ = -1;
  double dropout_ = 0;
};

}  // namespace heed
