// Batches of ids as the tensors that a model takes.
#pragma once

#include <span>
#include <vector>

#include "heed/models/sequence_model.h"
#include "heed/tasks/text_codec.h"
#include "heed/text/batching.h"
#include "heed/text/documents.h"

namespace heed {

// Sentences (ids without end token; one may be empty), each with the vocabulary's end token, padded.
TokenBatch make_token_batch(std::span<const std::vector<int>> sentences, const SymbolIds& symbols = kOwnSymbols);

// The same without end tokens: prompts, of which one may be empty.
TokenBatch make_prompt_batch(std::span<const std::vector<int>> prompts);

// Pairs for teacher forcing.
SequenceBatch make_translation_batch(const Batch& batch);

// One sequence for teacher forcing, by its ids without what the codec's symbols put around them; a source where the
// model reads one. What nothing predicts and what predicts nothing is not there: without a begin symbol the first id is
// no output, without an end symbol the last output is kNoTarget.
SequenceBatch make_taught_batch(const TextCodec& codec, std::span<const int> source_ids,
                                std::span<const int> target_ids);

// Passages end to end.
SequenceBatch make_packed_batch(const PackedBatch& batch);

}  // namespace heed
