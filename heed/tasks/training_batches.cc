#include "heed/tasks/training_batches.h"

#include <algorithm>

namespace heed {

TrainingBatches::TrainingBatches(const EncodedCorpus& corpus, const TrainOptions& options)
    : corpus_(corpus),
      lengths_(padded_lengths(corpus)),
      token_budget_(options.batch_tokens),
      accumulate_(options.accumulate),
      seed_(static_cast<std::uint64_t>(options.seed)) {}

Index TrainingBatches::in_epoch(Index epoch) { return static_cast<Index>(plan(epoch).size()); }

std::vector<Batch> TrainingBatches::of_update(Index epoch, Index first) {
  const BatchPlan& all = plan(epoch);
  const Index end = std::min(first + accumulate_, static_cast<Index>(all.size()));
  std::vector<Batch> batches;
  for (Index b = first; b < end; ++b) batches.push_back(make_batch(corpus_, all[static_cast<std::size_t>(b)]));
  return batches;
}

const BatchPlan& TrainingBatches::plan(Index epoch) {
  if (planned_ != epoch) {
    plan_ = plan_batches(lengths_, {.token_budget = token_budget_}, seed_, static_cast<std::uint64_t>(epoch));
    planned_ = epoch;
  }
  return plan_;
}

}  // namespace heed
