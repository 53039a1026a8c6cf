// What a training run is about: the text it learns from, as batches, and how good a model is at it.
//
//   std::unique_ptr<TrainingTask> task = make_training_task(paths, options, monitor);
//   for (const std::vector<Index>& some : task->plan_epoch(0)) learn(task->batch(some));
//   ValidationScore score = task->measure(model, workspace);
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/layers/parameters.h"
#include "heed/models/sequence_model.h"
#include "heed/tasks/train_options.h"
#include "heed/tasks/training_folder.h"
#include "heed/tasks/training_monitor.h"
#include "heed/tasks/training_start.h"
#include "heed/text/batching.h"

namespace heed {

struct TrainingBatch {
  SequenceBatch batch;
  Index target_tokens;  // that it predicts
};

struct ValidationScore {
  double loss = 0;                              // cross-entropy of a target token in nats, without label smoothing
  std::optional<double> bleu = {};              // of translations and captions
  std::optional<double> exact = {};             // of captions: the share that is the reference, to the letter
  std::vector<SampleTranslation> samples = {};  // three, or as many as there are
};

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  // Where the model goes; its vocabularies are there already.
  virtual const TrainingFolder& folder() const = 0;
  // The options' model, with the sizes of its vocabularies.
  virtual ModelConfig config() const = 0;
  // How its text becomes ids.
  virtual const TextCodec& codec() const = 0;
  // Sets those of a new model's parameters that begin as something else than what was drawn.
  virtual void begin(const ParameterList&) const {}
  // Of the text alone: neither parameters nor batches are counted.
  virtual CorpusReport report() const = 0;
  // Which sequences are in each batch of an epoch, from 0: a pure function of the text and the options.
  virtual BatchPlan plan_epoch(Index epoch) const = 0;
  virtual TrainingBatch batch(std::span<const Index> sequences) const = 0;
  // How good the model is on the validation text.
  virtual ValidationScore measure(const SequenceModel& model, Workspace& workspace) const = 0;
};

// Reads the text, and only then opens the folder; learns the vocabularies, which it tells the monitor, or, where the
// folder holds a run, loads them, or takes those of the start (null: none), whose model the options have
// (options_from). Holds on to the options. Throws heed::Error for bad text, for a run with other
// options or other text, naming the first difference, and for a folder that a run may not have
// (heed/tasks/training_folder.h).
std::unique_ptr<TrainingTask> make_training_task(const TrainPaths& paths, const TrainOptions& options,
                                                 const TrainingStart* start, TrainingMonitor& monitor);

// The configuration of a task's model: that of the start, or the options' with the sizes of the vocabularies.
ModelConfig config_for(const TrainOptions& options, const TrainingStart* start, const TextCodec& codec);

}  // namespace heed
