// What a training run reads: its text, the vocabularies learned from it, and both as ids.
#pragma once

#include <filesystem>
#include <memory>

#include "heed/base/file_lock.h"
#include "heed/tasks/train_options.h"
#include "heed/text/parallel_corpus.h"

namespace heed {

struct TrainingText {
  std::unique_ptr<FileLock> lock;  // two runs in one folder would mix their files
  std::shared_ptr<const Vocabulary> source_vocabulary, target_vocabulary;  // one object where the vocabulary is joint
  EncodedCorpus corpus;
  ParallelCorpus validation;  // at most options.validation_sentences pairs
  EncodedCorpus encoded_validation;
  Index dropped_empty = 0;  // training pairs with an empty side
};

// Reads the text, and learns the vocabularies or, where the folder holds a run, loads them. A folder holds a run once
// there is a saved state in it: until then (a mistaken option, an early kill) it starts anew. Throws heed::Error for
// bad text, for a run with other options or other text, naming the first difference, for a folder that holds a model
// but no run, and for one in which another process trains.
TrainingText prepare_training_text(const TrainPaths& paths, const TrainOptions& options);

}  // namespace heed
