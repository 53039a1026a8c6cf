#include "heed/models/encoder_heads.h"

#include <vector>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"

namespace heed {

EncoderHeads::EncoderHeads(const ParameterScope& scope, const TransformerConfig& config, const Embedding& table)
    : options_(config.encoder_heads),
      reads_last_(config.has_decoder()),
      masked_activation_(options_.masked_gelu ? Activation::gelu : config.activation) {
  if (options_.pooler != PoolerKind::none) pooler_ = Linear(scope / "pooler", config.width, config.width);
  if (options_.classifier != ClassifierKind::none) {
    const Index read = config.has_decoder() ? config.table_width() : config.width;
    classifier_ = Linear(scope / "classifier", read, std::ssize(options_.labels));
  }
  if (options_.distilled) {
    distilled_classifier_ = Linear(scope / "distilled_classifier", config.width, std::ssize(options_.labels));
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

Var EncoderHeads::of_sequences(const Context& context, const Var& hidden, const Tensor& lengths) const {
  std::vector<std::int32_t> rows;
  for (Index b = 0; b < hidden.dim(0); ++b) {
    const Index length = lengths.is_empty() ? hidden.dim(1) : lengths.at<std::int32_t>({b});
    HEED_CHECK(length >= 1 && length <= hidden.dim(1), "EncoderHeads: sequence {} has {} tokens of {}", b, length,
               hidden.dim(1));
    rows.push_back(static_cast<std::int32_t>(b * hidden.dim(1) + (reads_last_ ? length - 1 : 0)));
  }
  return gather(context, hidden, Tensor::from(rows, {std::ssize(rows)}));
}

Var EncoderHeads::at_token(const Context& context, const Var& hidden, Index token) const {
  std::vector<std::int32_t> rows;
  for (Index b = 0; b < hidden.dim(0); ++b) rows.push_back(static_cast<std::int32_t>(b * hidden.dim(1) + token));
  return gather(context, hidden, Tensor::from(rows, {std::ssize(rows)}));
}

Var EncoderHeads::pooled(const Context& context, const Var& hidden, const Tensor& lengths) const {
  HEED_CHECK(options_.pooler != PoolerKind::none, "EncoderHeads: the model has no pooler");
  const Activation activation = options_.pooler == PoolerKind::tanh   ? Activation::tanh
                                : options_.pooler == PoolerKind::relu ? Activation::relu
                                                                      : Activation::gelu;
  return activate(context, activation, pooler_.forward(context, of_sequences(context, hidden, lengths)));
}

Var EncoderHeads::class_logits(const Context& context, const Var& hidden, const Tensor& lengths) const {
  switch (options_.classifier) {
    case ClassifierKind::sequence:
    case ClassifierKind::next_sentence: {
      const bool has_pooler = options_.pooler != PoolerKind::none;
      const Var logits = classifier_.forward(
          context, has_pooler ? pooled(context, hidden, lengths) : of_sequences(context, hidden, lengths));
      if (!options_.distilled) return logits;
      return scale(context, add(context, logits, distilled_classifier_.forward(context, at_token(context, hidden, 1))),
                   0.5);
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
  const Var x = activate(context, masked_activation_, masked_dense_.forward(context, hidden));
  return linear(context, masked_norm_.forward(context, x), masked_weight_, masked_bias_);
}

}  // namespace heed
