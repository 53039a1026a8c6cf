// Learning to tell what pictures show: pictures with a caption each, and how many of the validation pictures' captions
// the model gets right.
#pragma once

#include "heed/tasks/picture_list.h"
#include "heed/tasks/training_task.h"
#include "heed/tasks/training_text.h"
#include "heed/text/parallel_corpus.h"

namespace heed {

class CaptionTask : public TrainingTask {
 public:
  // Options: all that speak of text, patches, batches, vocabularies and validation. Paths: source and target, which are
  // lists of pictures and captions. See make_training_task; throws heed::Error also for pictures of different sizes,
  // and for those that have no whole patches.
  CaptionTask(const TrainPaths& paths, const TrainOptions& options, TrainingMonitor& monitor);

  const TrainingFolder& folder() const override { return *folder_; }
  ModelConfig config() const override { return config_; }
  const TextCodec& codec() const override { return codec_; }
  // Positions begin as sinusoids of a patch's row and column, from which a plain encoder learns sooner what is beside
  // what (Beyer, Zhai, Kolesnikov 2022, "Better plain ViT baselines for ImageNet-1k").
  void begin(const ParameterList& parameters) const override;
  CorpusReport report() const override;
  BatchPlan plan_epoch(Index epoch) const override;
  TrainingBatch batch(std::span<const Index> pairs) const override;
  // BLEU is of greedy captions, by characters, which Chinese has in common with other languages.
  ValidationScore measure(const SequenceModel& model, Workspace& workspace) const override;

 private:
  struct Captioned {
    PictureList pictures;
    std::vector<std::string> captions;
    std::vector<std::size_t> picture_of;  // of each pair of the corpus
    EncodedCorpus corpus;                 // its sources stand for patches
  };

  void encode(Captioned& captioned) const;
  std::vector<PairLength> lengths(const Captioned& captioned) const;
  TrainingBatch make(const Captioned& captioned, std::span<const Index> pairs) const;

  const TrainOptions& options_;
  Captioned training_, validation_;  // of the latter at most options.validation_sentences
  std::unique_ptr<TrainingFolder> folder_;
  TextCodec codec_;
  ModelConfig config_;
};

}  // namespace heed
