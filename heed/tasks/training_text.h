// How a training run's text becomes ids: by vocabularies that are learned from it, once, or by those of the model that
// the run goes on from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/tasks/text_codec.h"
#include "heed/tasks/train_options.h"
#include "heed/tasks/training_folder.h"
#include "heed/tasks/training_monitor.h"
#include "heed/tasks/training_start.h"

namespace heed {

// What a run reads, side by side: a translation's sides are two, a language model has one.
using Sides = std::vector<std::span<const std::string>>;

// Where the folder holds a run of these options, texts and start, loads its vocabularies; otherwise learns them, a
// joint one from all sides, and tells the monitor, or takes those of the start, where there is one; makes the folder a
// run's own and saves them in it (not with factors of a start, which stays beside them). Throws heed::Error for a run
// with other options, another start or other text, naming the first difference.
// `pictures` is the fingerprint of what the text belongs to, where that is no text.
TextCodec prepare_text(const TrainingFolder& folder, const TrainOptions& options, const TrainingStart* start,
                       const Sides& text, const Sides& validation, TrainingMonitor& monitor,
                       const std::string& pictures = {});

}  // namespace heed
