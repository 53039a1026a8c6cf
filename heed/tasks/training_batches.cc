#include "heed/tasks/training_batches.h"

#include <algorithm>

namespace heed {

Index TrainingBatches::in_epoch(Index epoch) { return static_cast<Index>(plan(epoch).size()); }

std::vector<TrainingBatch> TrainingBatches::of_update(Index epoch, Index first) {
  const BatchPlan& all = plan(epoch);
  const Index end = std::min(first + accumulate_, static_cast<Index>(all.size()));
  std::vector<TrainingBatch> batches;
  for (Index b = first; b < end; ++b) batches.push_back(task_.batch(all[static_cast<std::size_t>(b)]));
  return batches;
}

const BatchPlan& TrainingBatches::plan(Index epoch) {
  if (planned_ != epoch) plan_ = task_.plan_epoch(epoch), planned_ = epoch;
  return plan_;
}

}  // namespace heed
