#include "heed/tasks/model_batch.h"

#include <algorithm>

namespace heed {
namespace {

TokenBatch source_tensors(const SourceBatch& batch) {
  const std::vector<std::int32_t> lengths(batch.source_lengths.begin(), batch.source_lengths.end());
  return {Tensor::from(batch.source, {batch.rows, batch.source_length}), Tensor::from(lengths, {batch.rows})};
}

}  // namespace

TokenBatch make_token_batch(std::span<const std::vector<int>> sentences, const SymbolIds& symbols) {
  return source_tensors(make_source_batch(sentences, symbols));
}

TokenBatch make_prompt_batch(std::span<const std::vector<int>> prompts) {
  Index longest = 1;
  for (const std::vector<int>& prompt : prompts) longest = std::max(longest, std::ssize(prompt));
  const Index rows = std::ssize(prompts);
  const TokenBatch batch{Tensor::zeros(DType::i32, {rows, longest}), Tensor::zeros(DType::i32, {rows})};
  for (Index r = 0; r < rows; ++r) {
    const std::vector<int>& prompt = prompts[static_cast<std::size_t>(r)];
    std::ranges::copy(prompt, batch.ids.data<std::int32_t>() + r * longest);
    batch.lengths.data<std::int32_t>()[r] = static_cast<std::int32_t>(prompt.size());
  }
  return batch;
}

SequenceBatch make_translation_batch(const Batch& batch) {
  return {.source = source_tensors(batch),
          .input = Tensor::from(batch.target_input, {batch.rows, batch.target_length}),
          .output = Tensor::from(batch.target_output, {batch.rows, batch.target_length})};
}

SequenceBatch make_taught_batch(const TextCodec& codec, std::span<const int> source_ids,
                                std::span<const int> target_ids) {
  const int begin = codec.target_symbols.begin, end = codec.target_symbols.end;
  std::vector<std::int32_t> input(target_ids.begin(), target_ids.end()), output = input;
  if (begin >= 0) {
    input.insert(input.begin(), begin);
  } else if (!output.empty()) {
    output.erase(output.begin());
  }
  if (end >= 0) output.push_back(end);
  output.resize(input.size(), kNoTarget);
  SequenceBatch batch;
  if (!source_ids.empty()) {
    const std::vector<int> source(source_ids.begin(), source_ids.end());
    batch.source = make_token_batch({&source, 1}, codec.source_symbols);
  }
  batch.input = Tensor::from(input, {1, std::ssize(input)});
  batch.output = Tensor::from(output, {1, std::ssize(output)});
  return batch;
}

SequenceBatch make_packed_batch(const PackedBatch& batch) {
  return {.input = Tensor::from(batch.input, {1, batch.tokens()}),
          .output = Tensor::from(batch.output, {1, batch.tokens()}),
          .offsets = Tensor::from(batch.offsets, {std::ssize(batch.offsets)})};
}

}  // namespace heed
