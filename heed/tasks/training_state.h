// What a training run must remember to go on to the same bits, as one file that is replaced whole.
#pragma once

#include <filesystem>
#include <vector>

#include "heed/base/random.h"
#include "heed/layers/parameters.h"
#include "heed/optim/adam.h"

namespace heed {

struct TrainingState {
  Index update = 0;                // updates done
  Index epoch = 0;                 // the epoch under way, from 0
  Index batch = 0;                 // batches of it that are done
  std::uint64_t rng_position = 0;  // of the generator that dropout draws from
  double seconds = 0;              // of training so far
  double best_bleu = -1;           // of validations so far
  Index since_best = 0;            // validations since then
  std::vector<Index> averaged;     // updates whose parameters are kept for the mean, oldest first
  bool finished = false;           // a limit was reached
};

// training/state.safetensors: the state, parameters and Adam's moments.
void save_training_state(const std::filesystem::path& file, const TrainingState& state, const ParameterList& parameters,
                         const Adam& adam);
// Sets parameters and moments, and returns the state. Throws heed::Error naming the file for one that does not fit.
TrainingState load_training_state(const std::filesystem::path& file, const ParameterList& parameters, Adam& adam);

// training/parameters-UPDATE.safetensors
std::filesystem::path kept_parameters_file(const std::filesystem::path& training_folder, Index update);

// Sets each parameter to the mean of its values in the files, summed in double in the order given.
void set_to_mean(const std::vector<std::filesystem::path>& files, const ParameterList& parameters);

}  // namespace heed
