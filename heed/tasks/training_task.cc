#include "heed/tasks/training_task.h"

#include "heed/base/check.h"
#include "heed/tasks/language_model_task.h"
#include "heed/tasks/translation_task.h"

namespace heed {

std::unique_ptr<TrainingTask> make_training_task(const TrainPaths& paths, const TrainOptions& options,
                                                 TrainingMonitor& monitor) {
  switch (options.task) {
    case Task::translation:
      return std::make_unique<TranslationTask>(paths, options, monitor);
    case Task::language_model:
      return std::make_unique<LanguageModelTask>(paths, options, monitor);
  }
  fail("make_training_task: task {} is none", static_cast<int>(options.task));
}

}  // namespace heed
