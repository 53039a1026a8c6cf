// Learning to continue text: documents, one a line, packed end to end, and the loss on those of the validation text.
#pragma once

#include "heed/tasks/training_task.h"
#include "heed/tasks/training_text.h"
#include "heed/text/documents.h"

namespace heed {

class LanguageModelTask : public TrainingTask {
 public:
  // Options: all that speak of text, batches, vocabularies and validation. See make_training_task.
  LanguageModelTask(const TrainPaths& paths, const TrainOptions& options, const TrainingStart* start,
                    TrainingMonitor& monitor);

  const TrainingFolder& folder() const override { return *folder_; }
  ModelConfig config() const override { return config_; }
  const TextCodec& codec() const override { return codec_; }
  CorpusReport report() const override;
  BatchPlan plan_epoch(Index epoch) const override;
  TrainingBatch batch(std::span<const Index> passages) const override;
  // Its loss is that of a token, the ends of documents counted; there is no BLEU.
  ValidationScore measure(const SequenceModel& model, Workspace& workspace) const override;

 private:
  const TrainOptions& options_;
  std::unique_ptr<TrainingFolder> folder_;
  TextCodec codec_;
  ModelConfig config_;
  Documents documents_, validation_;
};

}  // namespace heed
