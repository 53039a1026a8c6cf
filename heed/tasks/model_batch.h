// Batches of ids as the tensors that a model takes.
#pragma once

#include <span>
#include <vector>

#include "heed/models/translation_model.h"
#include "heed/text/batching.h"

namespace heed {

// Sentences (ids without end token; one may be empty), each with the end token, padded.
TokenBatch make_token_batch(std::span<const std::vector<int>> sentences);

// Pairs for teacher forcing.
TranslationBatch make_translation_batch(const Batch& batch);

}  // namespace heed
