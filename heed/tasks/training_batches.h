// The batches of a training run, epoch after epoch: a pure function of its task and the place.
//
//   TrainingBatches batches(task, options.accumulate);
//   std::vector<TrainingBatch> some = batches.of_update(/*epoch=*/0, /*first=*/0);
#pragma once

#include <vector>

#include "heed/tasks/training_task.h"

namespace heed {

class TrainingBatches {
 public:
  // Holds on to the task, which must outlive it.
  TrainingBatches(const TrainingTask& task, Index accumulate) : task_(task), accumulate_(accumulate) {}

  // Batches of an epoch, from 0.
  Index in_epoch(Index epoch);
  // The batches of the update that begins with batch `first` of an epoch: as many as are accumulated, fewer at its end.
  std::vector<TrainingBatch> of_update(Index epoch, Index first);

 private:
  const BatchPlan& plan(Index epoch);

  const TrainingTask& task_;
  Index accumulate_;
  Index planned_ = -1;  // the epoch of plan_
  BatchPlan plan_;
};

}  // namespace heed
