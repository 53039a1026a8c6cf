// When a training run stops, and how near that is.
#pragma once

#include <optional>

#include "heed/tasks/train_options.h"
#include "heed/tasks/training_state.h"

namespace heed {

// The limit that a run in this state has reached, if any.
std::optional<TrainingStop> limit_reached(const TrainLimits& limits, const TrainingState& state);

// The part of the way to the nearest limit of updates, epochs and minutes, from 0 to 1; 0 where there is none. The
// epoch under way has so many batches.
double progress(const TrainLimits& limits, const TrainingState& state, Index batches_in_epoch);

}  // namespace heed
