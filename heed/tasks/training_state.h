// What a training run must remember to go on to the same bits, as one file that is replaced whole.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/layers/parameters.h"
#include "heed/optim/adam.h"
#include "heed/tasks/candidate.h"

namespace heed {

struct TrainingState {
  Index update = 0;                // updates done
  Index epoch = 0;                 // the epoch under way, from 0
  Index batch = 0;                 // batches of it that are done
  double seconds = 0;              // of training so far
  std::vector<Index> recent = {};  // updates of the last validations, whose parameters are kept for their mean
  Candidate best = {};             // of the validations so far; its parameters are kept too
  Index since_better = 0;          // validations since the best
  Candidate model = {};            // what model.safetensors is made of
  bool finished = false;           // a limit was reached

  // Whether the last update's parameters are among those of the validations that the run keeps.
  bool validated() const { return !recent.empty() && recent.back() == update; }
};

// training/state.safetensors: the state, parameters and Adam's moments.
void save_training_state(const std::filesystem::path& file, const TrainingState& state, const ParameterList& parameters,
                         const Adam& adam);
// Sets parameters and moments, and returns the state. Throws heed::Error naming the file for one that does not fit.
TrainingState load_training_state(const std::filesystem::path& path, const ParameterList& parameters, Adam& adam);

}  // namespace heed
