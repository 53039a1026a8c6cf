// The model of a training run, and what of it is trained.
//
//   TrainedModel trained = make_trained_model(options, task->config(), task->codec(), start);
//   TrainingUpdate update(*trained.model, trained.parameters, options);
#pragma once

#include <memory>

#include "heed/io/json.h"
#include "heed/layers/parameters.h"
#include "heed/models/sequence_model.h"
#include "heed/tasks/text_codec.h"
#include "heed/tasks/train_options.h"
#include "heed/tasks/training_start.h"

namespace heed {

struct TrainedModel {
  std::unique_ptr<SequenceModel> model;
  ParameterList parameters;  // what is trained, and what checkpoints and model.safetensors hold
  Json config;               // config.json of its folder
};

// Of `config`: drawn at random; or, from a start, with copies of its parameters, in f32; or, where the options have a
// rank, with its parameters as they are and factors drawn for them, and the folder is an adapter's
// (heed/tasks/adapter_folder.h).
TrainedModel make_trained_model(const TrainOptions& options, const ModelConfig& config, const TextCodec& codec,
                                const TrainingStart* start);

}  // namespace heed
