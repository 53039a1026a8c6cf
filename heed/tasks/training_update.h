// One update of a model's parameters from some batches.
//
//   TrainingUpdate update(model, parameters, options);
//   const UpdateResult result = update.run(1, batches);
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "heed/base/workspace.h"
#include "heed/layers/parameters.h"
#include "heed/optim/adam.h"
#include "heed/tasks/train_options.h"
#include "heed/tasks/training_task.h"

namespace heed {

struct UpdateResult {
  Index target_tokens = 0;
  double loss = 0;           // label-smoothed cross-entropy of a target token, in nats
  double gradient_norm = 0;  // before it is clipped
  double rate = 0;

  bool finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }
};

class TrainingUpdate {
 public:
  // Holds on to all three, which must outlive it. Options: seed, rate and warm-up, label smoothing, clipping,
  // Adam's.
  TrainingUpdate(const SequenceModel& model, const ParameterList& parameters, const TrainOptions& options);

  // The update of this number, which counts from 1: adds up the gradients of the batches, clips their norm and takes
  // Adam's step. What dropout drops depends on the seed, the number and the place among the batches alone. Where the
  // loss or a gradient is not finite the parameters stay as they are.
  UpdateResult run(Index number, std::span<const TrainingBatch> batches);

  Adam& adam() { return adam_; }

 private:
  double accumulate(Index number, std::span<const TrainingBatch> batches, Index tokens);

  const SequenceModel& model_;
  const TrainOptions& options_;
  std::vector<Var> parameters_;
  Adam adam_;
  Workspace workspace_;
};

}  // namespace heed
