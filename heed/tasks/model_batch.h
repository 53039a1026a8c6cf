// Batches of ids as the tensors that a model takes.
#pragma once

#include <span>
#include <vector>

#include "heed/models/sequence_model.h"
#include "heed/text/batching.h"
#include "heed/text/documents.h"

namespace heed {

// Sentences (ids without end token; one may be empty), each with the vocabulary's end token, padded.
TokenBatch make_token_batch(std::span<const std::vector<int>> sentences, const SymbolIds& symbols = kOwnSymbols);

// The same without end tokens: prompts, of which one may be empty.
TokenBatch make_prompt_batch(std::span<const std::vector<int>> prompts);

// Pairs for teacher forcing.
SequenceBatch make_translation_batch(const Batch& batch);

// Passages end to end.
SequenceBatch make_packed_batch(const PackedBatch& batch);

}  // namespace heed
