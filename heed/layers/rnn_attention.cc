#include "heed/layers/rnn_attention.h"

#include <cmath>
#include <utility>

#include "heed/autograd/attention.h"
#include "heed/base/check.h"
#include "heed/layers/initialise.h"

namespace heed {

void AttentionMemory::select_rows(std::span<const Index> rows) {
  const bool one = keys == values;
  values = Var(values.value().gather_rows(rows));
  keys = one ? values : Var(keys.value().gather_rows(rows));
  lengths = lengths.gather_rows(rows);
}

RnnAttention::RnnAttention(std::string path, RnnScore score, Rng& rng, Index query_width, Index memory_width,
                           Index width)
    : path_(std::move(path)), score_(score) {
  switch (score) {
    case RnnScore::additive:
      query_projection_ = Linear(rng, query_width, width, /*bias=*/false);
      key_projection_ = Linear(rng, memory_width, width, /*bias=*/false);
      vector_ = uniform_parameter(rng, {width}, std::sqrt(6.0 / static_cast<double>(width + 1)));  // Glorot's bound
      return;
    case RnnScore::general:
      key_projection_ = Linear(rng, memory_width, query_width, /*bias=*/false);
      return;
    case RnnScore::dot:
      HEED_CHECK(query_width == memory_width,
                 "RnnAttention: the dot score needs queries and states of one width, but they have {} and {}",
                 query_width, memory_width);
      return;
  }
  fail("RnnAttention: score {} is none", static_cast<int>(score));
}

AttentionMemory RnnAttention::prepare(const Context& context, const Var& states, const Tensor& lengths) const {
  return {score_ == RnnScore::dot ? states : key_projection_.forward(context, states), states, lengths};
}

Var RnnAttention::forward(const Context& context, const Var& query, const AttentionMemory& memory) const {
  const bool additive = score_ == RnnScore::additive;
  const Var q = additive ? query_projection_.forward(context, query) : query;
  const AttentionSite site{path_, AttentionKind::cross};
  Tensor weights;
  if (context.observer != nullptr && context.observer->wants(site)) {
    weights = Tensor::empty(q.dtype(), {q.dim(0), 1, q.dim(1), memory.keys.dim(1)});
  }
  const AttentionSpec spec{.score = additive ? Score::additive(vector_) : Score::dot(),
                           .mask = Mask::key_lengths(memory.lengths)};
  const auto one_head = [](const Var& source) { return Heads{source, 0, 1, source.dim(2)}; };
  const Var mean = attention(context, one_head(q), one_head(memory.keys), one_head(memory.values), spec,
                             {.additive_vector = vector_, .dense_bias = {}}, weights, {memory.lengths});
  if (!weights.is_empty()) context.observer->on_weights(site, weights);
  return mean;
}

void RnnAttention::parameters(const std::string& path, ParameterList& list) const {
  query_projection_.parameters(join_path(path, "query_proj"), list);
  key_projection_.parameters(join_path(path, "key_proj"), list);
  add_parameter(list, path, "vector", vector_);
}

}  // namespace heed
