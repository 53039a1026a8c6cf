// What tests of models share: sentences of a vocabulary of eleven tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/models/sequence_model.h"

namespace heed {

// Two pairs of sentences of different lengths.
inline SequenceBatch small_batch() {
  using Ids = std::vector<std::int32_t>;
  return {{Tensor::from(Ids{4, 5, 6, 3, 7, 8, 3, 0}, {2, 4}), Tensor::from(Ids{4, 3}, {2})},
          Tensor::from(Ids{2, 9, 10, 2, 5, 0}, {2, 3}),
          Tensor::from(Ids{9, 10, 3, 5, 3, 0}, {2, 3})};
}

// The state of sequences that have read nothing yet.
inline std::unique_ptr<DecoderState> admitted(const NextToken& model, const Context& context, const TokenBatch& sources,
                                              Precision cache = Precision::f32) {
  auto state = model.start(cache);
  model.admit(context, *state, sources);
  return state;
}

}  // namespace heed
