// How good a model is on the validation text of its training.
//
//   Validation validation(text, options, model);
//   ValidationScore score = validation.measure();
#pragma once

#include <string>
#include <vector>

#include "heed/tasks/training_text.h"

namespace heed {

struct ValidationScore {
  double loss = 0;  // cross-entropy of a target token in nats, without label smoothing
  double bleu = 0;  // of greedy translations; that of a line longer than the model can hold is empty
  std::vector<SampleTranslation> samples = {};  // three, or as many as there are
};

class Validation {
 public:
  // Holds on to all three, which must outlive it.
  Validation(const TrainingText& text, const TrainOptions& options, const TranslationModel& model);

  // Translates the text and computes its loss with the model's parameters as they are now.
  ValidationScore measure();

 private:
  double loss();
  std::vector<std::string> translate() const;
  std::vector<SampleTranslation> samples(const std::vector<std::string>& translations) const;

  const TrainingText& text_;
  const TrainOptions& options_;
  const TranslationModel& model_;
  Workspace workspace_;
};

}  // namespace heed
