// The model that a training run goes on from: one of heed's own or another toolkit's.
//
//   const TrainingStart start = open_training_start("gpt2", {.task = Task::language_model});
//   start.model.config;                              // what the run's model will be
#pragma once

#include <filesystem>
#include <string>

#include "heed/base/error.h"
#include "heed/tasks/model_folder.h"
#include "heed/tasks/train_options.h"

namespace heed {

struct TrainingStart {
  std::filesystem::path path;
  ModelFolder model;
  std::string fingerprint;  // of its parameters
};

// Opens what load_model_folder opens. Throws heed::Error as that does; where the task is not the model's; for an
// adapter where another is to be trained; and for a model that heed cannot train: an encoder alone or one of pictures
// or sound, a decoder that sees what it is to predict, bounded logits, a translator without a token that decoding
// begins or ends with.
TrainingStart open_training_start(const std::filesystem::path& path, const TrainOptions& options);

// The options with the model of `start`, whose rates of dropout alone are the options' own.
TrainOptions options_from(const TrainOptions& options, const TrainingStart& start);

}  // namespace heed
