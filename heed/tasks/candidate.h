// Parameters that may become the model of a training run.
#pragma once

#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// What a validation gave for the mean of the parameters after the `updates`, of which there is mostly one.
struct Candidate {
  std::vector<Index> updates;
  double bleu = -1;  // no validation yet; 0 of a language model, so that the loss decides
  double loss = 0;
};

// By BLEU on the validation text, and where that is the same by the loss.
bool better(const Candidate& a, const Candidate& b);

// "the checkpoint of update 200", "the mean of the checkpoints of updates 100 and 200".
std::string describe(const Candidate& candidate);

}  // namespace heed
