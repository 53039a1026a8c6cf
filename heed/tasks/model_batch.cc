#include "heed/tasks/model_batch.h"

namespace heed {
namespace {

TokenBatch source_tensors(const SourceBatch& batch) {
  const std::vector<std::int32_t> lengths(batch.source_lengths.begin(), batch.source_lengths.end());
  return {Tensor::from(batch.source, {batch.rows, batch.source_length}), Tensor::from(lengths, {batch.rows})};
}

}  // namespace

TokenBatch make_token_batch(std::span<const std::vector<int>> sentences) {
  return source_tensors(make_source_batch(sentences));
}

TranslationBatch make_translation_batch(const Batch& batch) {
  return {source_tensors(batch), Tensor::from(batch.target_input, {batch.rows, batch.target_length}),
          Tensor::from(batch.target_output, {batch.rows, batch.target_length})};
}

}  // namespace heed
