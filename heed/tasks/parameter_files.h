// The files of parameters that a training run keeps, one for each update that it validated.
//
//   ParameterFiles files(folder / "training", parameters);
//   files.write(update);                               // training/parameters-UPDATE.safetensors
//   files.set_to_mean({100, 200});
//   files.remove_all_but({200, 300});
#pragma once

#include <filesystem>
#include <vector>

#include "heed/layers/parameters.h"

namespace heed {

class ParameterFiles {
 public:
  // Holds on to the parameters, which it writes from and reads into. The folder is there already.
  ParameterFiles(std::filesystem::path folder, const ParameterList& parameters);

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
