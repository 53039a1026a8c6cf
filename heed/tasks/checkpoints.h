// The parameters that a training run keeps at its validations, and which of them become the model.
//
//   Checkpoints checkpoints(folder / "training", parameters);
//   checkpoints.write(update);                               // training/parameters-UPDATE.safetensors
//   checkpoints.set_to_mean({100, 200});
//   checkpoints.remove_all_but({200, 300});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/layers/parameters.h"

namespace heed {

// What a validation gave for the mean of the parameters after the `updates`, of which there is mostly one.
struct Candidate {
  std::vector<Index> updates;
  double bleu = -1;  // no validation yet
  double loss = 0;
};

// By BLEU on the validation text, and where that is the same by the loss.
bool better(const Candidate& a, const Candidate& b);

// "the checkpoint of update 200", "the mean of the checkpoints of updates 100 and 200".
std::string describe(const Candidate& candidate);

class Checkpoints {
 public:
  // Holds on to the parameters, which it writes from and reads into. The folder is there already.
  Checkpoints(std::filesystem::path folder, const ParameterList& parameters);

  // Writes the parameters as those after `update`.
  void write(Index update) const;
  // Sets the parameters to the mean of those after the updates, summed in double in the order given. Throws heed::Error
  // naming the file for one that is missing or does not fit.
  void set_to_mean(const std::vector<Index>& updates) const;
  // Removes the files of other updates. Files of other names, which are somebody else's, stay.
  void remove_all_but(const std::vector<Index>& updates) const;

 private:
  std::filesystem::path file(Index update) const;

  std::filesystem::path folder_;
  const ParameterList& parameters_;
};

}  // namespace heed
