// The batches of a training run, epoch after epoch: a pure function of the text, the options and the place.
//
//   TrainingBatches batches(corpus, options);
//   std::vector<Batch> some = batches.of_update(/*epoch=*/0, /*first=*/0);
#pragma once

#include <vector>

#include "heed/tasks/train_options.h"
#include "heed/text/batching.h"
#include "heed/text/parallel_corpus.h"

namespace heed {

class TrainingBatches {
 public:
  // Holds on to the text. Options: batch_tokens, accumulate, seed.
  TrainingBatches(const EncodedCorpus& corpus, const TrainOptions& options);

  // Batches of an epoch, from 0.
  Index in_epoch(Index epoch);
  // The batches of the update that begins with batch `first` of an epoch: as many as are accumulated, fewer at its end.
  std::vector<Batch> of_update(Index epoch, Index first);

 private:
  const BatchPlan& plan(Index epoch);

  const EncodedCorpus& corpus_;
  std::vector<PairLength> lengths_;
  Index token_budget_, accumulate_;
  std::uint64_t seed_;
  Index planned_ = -1;  // the epoch of plan_
  BatchPlan plan_;
};

}  // namespace heed
