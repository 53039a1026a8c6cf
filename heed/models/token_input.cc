#include "heed/models/token_input.h"

#include <algorithm>

#include "heed/autograd/operators.h"
#include "heed/base/check.h"

namespace heed {
namespace {

Positions make_positions(const ParameterScope& scope, const TransformerConfig& config) {
  switch (config.positions) {
    case PositionKind::learned:
      return Positions::learned(scope, config.max_length + (config.padding_token >= 0 ? 1 : 0),
                                config.position_width());
    case PositionKind::sinusoidal:
      return Positions::sinusoidal(scope, config.max_length, config.position_width());
    case PositionKind::none:
      return {};
  }
  fail("Transformer: positions {} is none", static_cast<int>(config.positions));
}

// Of ids [B, L]: the first, second, ... token that is no padding is at 1, 2, ..., and padding at 0.
Tensor places_of_tokens(const Tensor& ids, Index padding) {
  const Tensor places = Tensor::empty(DType::i32, {ids.dim(0), ids.dim(1)});
  for (Index b = 0; b < ids.dim(0); ++b) {
    std::int32_t last = 0;
    for (Index t = 0; t < ids.dim(1); ++t) {
      places.at<std::int32_t>({b, t}) = ids.at<std::int32_t>({b, t}) == padding ? 0 : ++last;
    }
  }
  return places;
}

// The vectors x [B, L, W] but for those at position 0, which are zeros.
Var without_start(const Context& context, const Var& x, const Tensor& positions) {
  const Index length = x.dim(1), width = x.dim(2);
  Tensor kept = Tensor::empty(DType::f32, {x.dim(0), length, width});
  for (Index row = 0; row < x.dim(0) * length; ++row) {
    const Index position = positions.is_empty() ? row % length : positions.data<std::int32_t>()[row];
    std::fill_n(kept.data<float>() + row * width, width, position == 0 ? 0.0f : 1.0f);
  }
  return multiply(context, x, Var(kept.to(x.value().dtype())));
}

}  // namespace

TokenInput::TokenInput(const ParameterScope& scope, const std::string& side, const TransformerConfig& config,
                       const Embedding& embedding)
    : embedding_(embedding),
      positions_(make_positions(scope / (side + "_positions"), config)),
      side_(side == "source" ? EmbeddedSide::source : EmbeddedSide::decoder),
      has_types_(config.token_types > 0 && side == "source"),
      has_norm_(config.embedding_norm),
      projects_(config.factorised_embedding > 0 && !config.has_decoder()),
      projects_embeddings_(config.factorised_embedding > 0 && config.has_decoder()),
      zero_start_(config.zero_start && side == "target"),
      padding_token_(config.padding_token),
      dropout_(config.dropout) {
  if (has_types_) types_ = Embedding(scope / "token_types", config.token_types, config.table_width(), 1);
  if (has_norm_) norm_ = Norm(scope / (side + "_norm"), config.norm, config.position_width(), config.norm_epsilon);
  if (projects_ || projects_embeddings_) {
    projection_ = Linear(scope / (side + "_projection"), config.table_width(), config.width, /*bias=*/projects_);
  }
}

Var TokenInput::forward(const Context& context, const Tensor& ids, const Tensor& positions, const Tensor& types) const {
  HEED_CHECK(types.is_empty() || has_types_, "Transformer: the model has no token types, but some are given");
  Var embedded = embedding_.forward(context, ids);
  if (projects_embeddings_) embedded = projection_.forward(context, embedded);
  if (zero_start_) embedded = without_start(context, embedded, positions);
  const Tensor places = padding_token_ >= 0 ? places_of_tokens(ids, padding_token_) : positions;
  Var x = places.is_empty() ? positions_.forward(context, embedded) : positions_.forward_at(context, embedded, places);
  show_embeddings(context.observer, side_, embedded.value().view(), x.value().view());
  if (has_types_) {
    const Tensor all = types.is_empty() ? Tensor::zeros(DType::i32, {ids.dim(0), ids.dim(1)}) : types;
    x = add(context, x, types_.forward(context, all));
  }
  if (has_norm_) x = norm_.forward(context, x);
  x = dropout(context, x, dropout_);
  return projects_ ? projection_.forward(context, x) : x;
}

}  // namespace heed
