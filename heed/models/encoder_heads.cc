#include "heed/models/encoder_heads.h"

#include "heed/autograd/operators.h"
#include "heed/base/check.h"

namespace heed {
namespace {

Var first_tokens(const Context& context, const Var& hidden) {
  return reshape(context, slice(context, hidden, 1, 0, 1), {hidden.dim(0), hidden.dim(2)});
}

}  // namespace

EncoderHeads::EncoderHeads(const ParameterScope& scope, const TransformerConfig& config, const Embedding& table)
    : options_(config.encoder_heads), activation_(config.activation) {
  if (options_.pooler != PoolerKind::none) pooler_ = Linear(scope / "pooler", config.width, config.width);
  if (options_.classifier != ClassifierKind::none) {
    classifier_ = Linear(scope / "classifier", config.width, std::ssize(options_.labels));
  }
  if (!options_.masked_words) return;
  const ParameterScope masked = scope / "masked_words";
  const Index table_width = config.table_width(), words = config.source_vocabulary;
  masked_dense_ = Linear(masked / "dense", config.width, table_width);
  masked_norm_ = Norm(masked / "norm", config.norm, table_width, config.norm_epsilon);
  masked_weight_ = config.tie_output ? table.weight()
                                     : masked.weight("weight", words, table_width, Initial::xavier(words, table_width));
  masked_bias_ = masked.vector("bias", words, Initial::constant(0));
}

Var EncoderHeads::pooled(const Context& context, const Var& hidden) const {
  HEED_CHECK(options_.pooler != PoolerKind::none, "EncoderHeads: the model has no pooler");
  const Activation activation = options_.pooler == PoolerKind::tanh ? Activation::tanh : Activation::relu;
  return activate(context, activation, pooler_.forward(context, first_tokens(context, hidden)));
}

Var EncoderHeads::class_logits(const Context& context, const Var& hidden) const {
  switch (options_.classifier) {
    case ClassifierKind::sequence:
    case ClassifierKind::next_sentence: {
      const bool has_pooler = options_.pooler != PoolerKind::none;
      return classifier_.forward(context, has_pooler ? pooled(context, hidden) : first_tokens(context, hidden));
    }
    case ClassifierKind::tokens:
    case ClassifierKind::spans:
      return classifier_.forward(context, hidden);
    case ClassifierKind::none:
      break;
  }
  fail("EncoderHeads: the model has no classifier");
}

Var EncoderHeads::masked_word_logits(const Context& context, const Var& hidden) const {
  HEED_CHECK(options_.masked_words, "EncoderHeads: the model guesses no masked words");
  const Var x = activate(context, activation_, masked_dense_.forward(context, hidden));
  return linear(context, masked_norm_.forward(context, x), masked_weight_, masked_bias_);
}

}  // namespace heed
