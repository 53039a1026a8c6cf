#include "heed/tasks/training_limits.h"

#include <algorithm>

namespace heed {

std::optional<TrainingStop> limit_reached(const TrainLimits& limits, const TrainingState& state) {
  if (limits.max_updates > 0 && state.update >= limits.max_updates) return TrainingStop::max_updates;
  if (limits.max_epochs > 0 && state.epoch >= limits.max_epochs) return TrainingStop::max_epochs;
  if (limits.max_minutes > 0 && state.seconds >= limits.max_minutes * 60) return TrainingStop::max_minutes;
  if (limits.patience > 0 && state.since_better >= limits.patience) return TrainingStop::patience;
  return {};
}

double progress(const TrainLimits& limits, const TrainingState& state, Index batches_in_epoch) {
  const double epochs =
      static_cast<double>(state.epoch) + static_cast<double>(state.batch) / static_cast<double>(batches_in_epoch);
  double part = 0;
  if (limits.max_updates > 0) part = static_cast<double>(state.update) / static_cast<double>(limits.max_updates);
  if (limits.max_epochs > 0) part = std::max(part, epochs / static_cast<double>(limits.max_epochs));
  if (limits.max_minutes > 0) part = std::max(part, state.seconds / (60 * limits.max_minutes));
  return std::min(part, 1.0);
}

}  // namespace heed
