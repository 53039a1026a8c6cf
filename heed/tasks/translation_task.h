// Learning to translate: pairs of sentences, and BLEU on those of the validation text.
#pragma once

#include "heed/tasks/training_task.h"
#include "heed/tasks/training_text.h"
#include "heed/text/parallel_corpus.h"

namespace heed {

class TranslationTask : public TrainingTask {
 public:
  // Options: all that speak of text, batches, vocabularies and validation. See make_training_task.
  TranslationTask(const TrainPaths& paths, const TrainOptions& options, const TrainingStart* start,
                  TrainingMonitor& monitor);

  const TrainingFolder& folder() const override { return *folder_; }
  ModelConfig config() const override { return config_; }
  const TextCodec& codec() const override { return codec_; }
  CorpusReport report() const override;
  BatchPlan plan_epoch(Index epoch) const override;
  TrainingBatch batch(std::span<const Index> pairs) const override;
  // BLEU is of greedy translations; that of a line longer than the model can hold is empty.
  ValidationScore measure(const SequenceModel& model, Workspace& workspace) const override;

 private:
  double validation_loss(const SequenceModel& model, Workspace& workspace) const;
  std::vector<std::string> translations(const SequenceModel& model) const;
  std::vector<SampleTranslation> samples(const std::vector<std::string>& translations) const;

  const TrainOptions& options_;
  std::unique_ptr<TrainingFolder> folder_;
  TextCodec codec_;
  ModelConfig config_;
  EncodedCorpus corpus_;
  std::vector<PairLength> lengths_;
  ParallelCorpus validation_;  // at most options.validation_sentences pairs
  EncodedCorpus encoded_validation_;
  Index longest_ = 0;        // ids of a side, without begin and end
  Index dropped_empty_ = 0;  // training pairs with an empty side
};

}  // namespace heed
