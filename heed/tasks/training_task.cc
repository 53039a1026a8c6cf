#include "heed/tasks/training_task.h"

#include "heed/base/check.h"
#include "heed/tasks/caption_task.h"
#include "heed/tasks/language_model_task.h"
#include "heed/tasks/translation_task.h"

namespace heed {

ModelConfig config_for(const TrainOptions& options, const TrainingStart* start, const TextCodec& codec) {
  ModelConfig config = options.model;
  if (start == nullptr) config.set_vocabularies(codec.source_vocabulary->size(), codec.target_vocabulary->size());
  return config;
}

std::unique_ptr<TrainingTask> make_training_task(const TrainPaths& paths, const TrainOptions& options,
                                                 const TrainingStart* start, TrainingMonitor& monitor) {
  switch (options.task) {
    case Task::translation:
      return std::make_unique<TranslationTask>(paths, options, start, monitor);
    case Task::language_model:
      return std::make_unique<LanguageModelTask>(paths, options, start, monitor);
    case Task::caption:
      return std::make_unique<CaptionTask>(paths, options, monitor);
  }
  fail("make_training_task: task {} is none", static_cast<int>(options.task));
}

}  // namespace heed
