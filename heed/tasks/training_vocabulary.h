// The vocabularies of a training run: learned from its text, once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/tasks/train_options.h"
#include "heed/tasks/training_folder.h"
#include "heed/tasks/training_monitor.h"
#include "heed/text/vocabulary.h"

namespace heed {

struct Vocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // one object where the vocabulary is joint
};

// What a run reads, side by side: a translation's sides are two, a language model has one.
using Sides = std::vector<std::span<const std::string>>;

// Where the folder holds a run of these options and texts, loads its vocabularies; otherwise learns them, a joint one
// from all sides, tells the monitor, makes the folder a run's own and saves them in it. Throws heed::Error for a run
// with other options or other text, naming the first difference.
Vocabularies prepare_vocabularies(const TrainingFolder& folder, const TrainOptions& options, const Sides& text,
                                  const Sides& validation, TrainingMonitor& monitor);

}  // namespace heed
