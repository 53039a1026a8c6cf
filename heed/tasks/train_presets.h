// Shapes and rates that are known to train well.
//
//   TrainOptions options;
//   choose_model(options.model, "bahdanau");
//   apply_preset(options, "small");
#pragma once

#include <string_view>

#include "heed/base/error.h"
#include "heed/tasks/train_options.h"

namespace heed {

// Sets the kind of model: "transformer", "bahdanau" or "luong". Throws heed::Error for another name.
void choose_model(ModelConfig& model, std::string_view name);

// Puts a preset over the options: "tiny", "small" or "base". It reads the kind of model and the task, which are chosen
// before. Throws heed::Error for another name.
void apply_preset(TrainOptions& options, std::string_view preset);

// Sets what a run that goes on from a trained model begins with: small steps (larger ones where only low-rank factors
// are trained, which options.low_rank says), a short warm-up, no label smoothing.
void apply_fine_tuning(TrainOptions& options);

}  // namespace heed
