// What a training run leaves in its folder to go on from, and which of the parameters that it has had become the model.
//
//   Checkpoints checkpoints(folder, config, parameters, adam, options.average, monitor);
//   TrainingState state = checkpoints.resume();
//   checkpoints.keep(state, validated);            // after a validation
//   checkpoints.finish(state, {}, measure);        // at the end
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "heed/io/json.h"
#include "heed/tasks/parameter_files.h"
#include "heed/tasks/training_folder.h"
#include "heed/tasks/training_monitor.h"
#include "heed/tasks/training_state.h"
#include "heed/tasks/training_task.h"

namespace heed {

class Checkpoints {
 public:
  // `config` is what config.json is to hold. Holds on to all but `average`, the number of the last validations whose
  // parameters are kept for their mean.
  Checkpoints(const TrainingFolder& folder, const Json& config, const ParameterList& parameters, Adam& adam,
              Index average, TrainingMonitor& monitor);

  // The state of the run that the folder holds, whose parameters and moments it sets; a new one where there is none.
  // Removes parameters that no state names, which a kill may leave. Throws heed::Error naming a file that does not fit.
  TrainingState resume();
  // Writes the state, the parameters and the moments.
  void save(const TrainingState& state);
  // Keeps the parameters, which were validated, among those of the last validations, and as the model if they are the
  // best so far: a run that is left at any moment has the best model that it has seen. Saves the state.
  void keep(TrainingState& state, const Candidate& checkpoint);
  // Makes the model of the best that there is: the best single checkpoint, or the mean of the last 2, 3, ... of those
  // kept, which `measure` scores. `last` is the validation of the parameters as they are, where they are not kept: they
  // count for the model, but not for a run that goes on from here, which is to end as one that never stopped. Saves the
  // state as finished; the parameters stay as they are.
  void finish(TrainingState& state, const std::optional<Candidate>& last,
              const std::function<ValidationScore()>& measure);

  // The update after which the state was last saved, and where.
  Index last_saved() const { return last_saved_; }
  std::filesystem::path place() const { return folder_.training(); }

 private:
  void write_model() const;
  Candidate best_candidate(const Candidate& best, const std::vector<Index>& recent,
                           const std::function<ValidationScore()>& measure);

  const TrainingFolder& folder_;
  const Json& config_;
  const ParameterList& parameters_;
  Adam& adam_;
  Index average_;
  TrainingMonitor& monitor_;
  ParameterFiles files_;
  Index last_saved_ = 0;
};

}  // namespace heed
