#include "heed/layers/rnn_attention.h"

#include <numeric>

#include "heed/autograd/attention.h"
#include "heed/autograd/operators.h"
#include "heed/autograd/record.h"
#include "heed/base/check.h"
#include "heed/layers/shown_scores.h"
#include "heed/ops/elementwise.h"

namespace heed {
namespace {

// Row b of x [B, *] times lengths[b].
Tensor times_lengths(const Tensor& x, const Tensor& lengths) {
  const Tensor y = Tensor::empty_like(x.view());
  for (Index b = 0; b < x.dim(0); ++b) {
    scale(slice(x.view(), 0, b, b + 1), lengths.at<std::int32_t>({b}), slice(y.view(), 0, b, b + 1));
  }
  return y;
}

}  // namespace

void AttentionMemory::select_rows(std::span<const Index> rows) {
  const bool one = keys == values;
  values = Var(values.value().gather_rows(rows));
  keys = one ? values : Var(keys.value().gather_rows(rows));
  lengths = lengths.gather_rows(rows);
}

void AttentionMemory::append(const AttentionMemory& more) {
  const bool one = keys == values;
  values = Var(join_rows(values.value(), more.values.value()));
  keys = one ? values : Var(join_rows(keys.value(), more.keys.value()));
  lengths = join_rows(lengths, more.lengths);
}

RnnAttention::RnnAttention(const ParameterScope& scope, const RnnAttentionOptions& options)
    : path_(scope.path()), options_(options) {
  const auto [score, query_width, memory_width, width, reach, window] = options;
  HEED_CHECK(window >= 1, "RnnAttention: the window must be at least 1, but is {}", window);
  switch (score) {
    case RnnScore::additive:
      query_projection_ = Linear(scope / "query_proj", query_width, width, /*bias=*/false);
      key_projection_ = Linear(scope / "key_proj", memory_width, width, /*bias=*/false);
      vector_ = scope.vector("vector", width, Initial::xavier(1, width));
      break;
    case RnnScore::general:
      key_projection_ = Linear(scope / "key_proj", memory_width, query_width, /*bias=*/false);
      break;
    case RnnScore::dot:
      HEED_CHECK(query_width == memory_width,
                 "RnnAttention: the dot score needs queries and states of one width, but they have {} and {}",
                 query_width, memory_width);
      break;
  }
  if (reach != RnnReach::local_p) return;
  position_projection_ = Linear(scope / "position_proj", query_width, query_width, /*bias=*/false);
  position_vector_ = Linear(scope / "position_vector", query_width, 1, /*bias=*/false);
}

AttentionMemory RnnAttention::prepare(const Context& context, const Var& states, const Tensor& lengths) const {
  return {options_.score == RnnScore::dot ? states : key_projection_.forward(context, states), states, lengths};
}

Var RnnAttention::predicted_centre(const Context& context, const Var& query, const Tensor& lengths) const {
  const Var hidden = activate(context, Activation::tanh, position_projection_.forward(context, query));
  const Var fraction = activate(context, Activation::sigmoid, position_vector_.forward(context, hidden));  // [B, L, 1]
  const Var place = reshape(context, fraction, {query.dim(0), 1, query.dim(1)});
  return record(context, times_lengths(place.value(), lengths), {place},
                [=](const Tensor& dy) { place.add_grad(times_lengths(dy, lengths)); });
}

Var RnnAttention::forward(const Context& context, const Var& query, const AttentionMemory& memory,
                          std::span<const Index> first) const {
  const bool additive = options_.score == RnnScore::additive;
  const Var q = additive ? query_projection_.forward(context, query) : query;
  const AttentionSite site{path_, AttentionKind::cross};
  Tensor weights;
  if (context.observer != nullptr && context.observer->wants(site)) {
    weights = Tensor::empty(q.dtype(), {q.dim(0), 1, q.dim(1), memory.keys.dim(1)});
  }
  AttentionSpec spec{.score = additive ? Score::additive(vector_.value()) : Score::dot(),
                     .mask = Mask::key_lengths(memory.lengths)};
  Tensor places;  // what the window lies around
  Var centre;
  if (options_.reach == RnnReach::local_m) {
    places = Tensor::empty(DType::i64, {q.dim(0), 1, q.dim(1)});
    for (Index b = 0; b < q.dim(0); ++b) {
      std::int64_t* row = places.data<std::int64_t>() + b * q.dim(1);
      std::iota(row, row + q.dim(1), first[static_cast<std::size_t>(b)]);
    }
  } else if (options_.reach == RnnReach::local_p) {
    centre = predicted_centre(context, query, memory.lengths);
    places = spec.bias.gaussian.centre = centre.value();
    spec.bias.gaussian.sigma = static_cast<double>(options_.window) / 2;
  }
  if (!places.is_empty()) spec.mask = spec.mask & Mask::around(places, options_.window);
  const auto one_head = [](const Var& source) { return Heads{source, 0, 1, source.dim(2)}; };
  const Var mean = attention(context, one_head(q), one_head(memory.keys), one_head(memory.values), spec,
                             {additive ? vector_ : Var(), centre}, weights);
  show_scores(context.observer, site, one_head(q).view_of(q.value()),
              one_head(memory.keys).view_of(memory.keys.value()), spec);
  if (!weights.is_empty()) context.observer->on_weights(site, weights);
  return mean;
}

}  // namespace heed
