#include "heed/tasks/language_model_task.h"

#include <algorithm>

#include "heed/base/text_lines.h"
#include "heed/tasks/model_batch.h"

namespace heed {

LanguageModelTask::LanguageModelTask(const TrainPaths& paths, const TrainOptions& options, const TrainingStart* start,
                                     TrainingMonitor& monitor)
    : options_(options) {
  const std::vector<std::string> text = read_text_lines(paths.text);
  std::vector<std::string> validation = read_text_lines(paths.valid);
  validation.resize(std::min(validation.size(), static_cast<std::size_t>(options.validation_sentences)));
  folder_ = std::make_unique<TrainingFolder>(paths.folder);
  codec_ = prepare_text(*folder_, options, start, {text}, {validation}, monitor);
  config_ = config_for(options, start, codec_);
  const Index longest = std::min(options.model.max_length(), options.batch_tokens);
  documents_ = encode_documents(text, codec_.target_encoding(), longest);
  validation_ = encode_documents(validation, codec_.target_encoding(), longest);
}

CorpusReport LanguageModelTask::report() const {
  return {.sequences = documents_.count,
          .dropped_empty = documents_.dropped_empty,
          .dropped_long = 0,
          .source_vocabulary = codec_.target_vocabulary->size(),
          .target_vocabulary = codec_.target_vocabulary->size()};
}

BatchPlan LanguageModelTask::plan_epoch(Index epoch) const {
  return plan_packed_batches(documents_, options_.batch_tokens, static_cast<std::uint64_t>(options_.seed),
                             static_cast<std::uint64_t>(epoch));
}

TrainingBatch LanguageModelTask::batch(std::span<const Index> passages) const {
  const PackedBatch packed = pack(documents_, passages);
  return {make_packed_batch(packed), packed.tokens()};
}

ValidationScore LanguageModelTask::measure(const SequenceModel& model, Workspace& workspace) const {
  double nll = 0;
  const Context context = Context::inference(workspace);
  for (const auto& passages : plan_packed_batches(validation_, options_.batch_tokens, /*seed=*/0, /*epoch=*/0)) {
    nll += model.loss(context, make_packed_batch(pack(validation_, passages)), {.ignore_index = kNoTarget}).nll_sum;
  }
  return {.loss = nll / static_cast<double>(validation_.tokens)};
}

}  // namespace heed
