// What a training run says of itself, to its monitor and in metrics.jsonl.
#pragma once

#include <filesystem>

#include "heed/tasks/metrics_log.h"
#include "heed/tasks/training_monitor.h"
#include "heed/tasks/training_state.h"
#include "heed/tasks/training_task.h"
#include "heed/tasks/training_update.h"

namespace heed {

class TrainingLog {
 public:
  // Goes on after the state, or begins. Holds on to the monitor. Throws heed::Error where the file cannot be written.
  TrainingLog(const std::filesystem::path& file, const TrainingState& state, TrainingMonitor& monitor);

  // The update that led to the state, which took so many seconds; progress is that to the nearest limit.
  void on_update(const TrainingState& state, const UpdateResult& result, double seconds, double progress);
  void on_validation(const TrainingState& state, const ValidationScore& score, bool best);

  // Target tokens a second of all updates so far; 0 before the first.
  double target_tokens_per_second() const { return all_.seconds > 0 ? all_.tokens / all_.seconds : 0; }

 private:
  struct Work {
    double loss = 0, tokens = 0, seconds = 0;  // sums
  };

  TrainingMonitor& monitor_;
  MetricsLog metrics_;
  Work all_;
  Work
      lately_;  // each update counts for less the longer ago it was: one batch's loss jumps too much to be seen falling
};

}  // namespace heed
