// Trains a model from text.
//
//   TrainingResult result = train(paths, options, limits, monitor, stop);
#pragma once

#include <atomic>

#include "heed/tasks/candidate.h"
#include "heed/tasks/train_options.h"
#include "heed/tasks/training_monitor.h"

namespace heed {

struct TrainingResult {
  TrainingStop stop;
  Index updates = 0;
  Index epochs = 0;                     // whole passes over the text
  double seconds = 0;                   // of training, validations counted
  double target_tokens_per_second = 0;  // of the updates of this run, validations not counted
  Candidate model;                      // what the model is made of, and its scores on the validation text
};

// Trains, and leaves in paths.folder a model folder (heed/tasks/model_folder.h), metrics.jsonl, and training/ for
// continuing. While it trains the model is the best checkpoint so far; at the end the best, on the validation text, of
// that and of the means of the last 2 to options.average checkpoints. A run that was killed at any moment, or
// interrupted through `stop` (which saves first), continues with the same call to the same bits.
// With paths.from the run goes on from that model, with its vocabularies and its configuration but for the rates of
// dropout; with options.low_rank it learns factors for its weights, and the folder is an adapter's. Throws heed::Error,
// before anything is read or written, for options that make no sense; for bad text; for a folder that holds something
// else, or a run with other options; and, naming the update, when the loss or gradient is not finite: the last
// checkpoint stays.
TrainingResult train(const TrainPaths& paths, const TrainOptions& options, const TrainLimits& limits,
                     TrainingMonitor& monitor, const std::atomic<bool>& stop);

}  // namespace heed
