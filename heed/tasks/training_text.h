// What a training run reads: its text, the vocabularies learned from it, and both as ids.
#pragma once

#include <memory>

#include "heed/tasks/train_options.h"
#include "heed/tasks/training_folder.h"
#include "heed/tasks/training_monitor.h"
#include "heed/text/parallel_corpus.h"

namespace heed {

struct TrainingText {
  std::unique_ptr<TrainingFolder> folder;                                  // where the model goes
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // one object where the vocabulary is joint
  EncodedCorpus corpus;
  ParallelCorpus validation;  // at most options.validation_sentences pairs
  EncodedCorpus encoded_validation;
  Index dropped_empty = 0;  // training pairs with an empty side
};

// Reads the text, and only then opens the folder; learns the vocabularies, which it tells the monitor, or, where the
// folder holds a run, loads them.
// Throws heed::Error for bad text, for a run with other options or other text, naming the first difference, and for a
// folder that a run may not have (heed/tasks/training_folder.h).
TrainingText prepare_training_text(const TrainPaths& paths, const TrainOptions& options, TrainingMonitor& monitor);

}  // namespace heed
