#include "heed/tasks/checkpoints.h"

#include <algorithm>

#include "heed/layers/saved_parameters.h"

namespace heed {
namespace {

std::vector<Index> kept_updates(const TrainingState& state) {
  std::vector<Index> updates = state.recent;
  updates.insert(updates.end(), state.best.updates.begin(), state.best.updates.end());
  return updates;
}

}  // namespace

Checkpoints::Checkpoints(const TrainingFolder& folder, const Json& config, const ParameterList& parameters, Adam& adam,
                         Index average, TrainingMonitor& monitor)
    : folder_(folder),
      config_(config),
      parameters_(parameters),
      adam_(adam),
      average_(average),
      monitor_(monitor),
      files_(folder.training(), parameters) {}

TrainingState Checkpoints::resume() {
  TrainingState state;
  if (folder_.holds_run()) {
    state = load_training_state(folder_.state_file(), parameters_, adam_);
    monitor_.on_resume(state.update);
  }
  files_.remove_all_but(kept_updates(state));
  last_saved_ = state.update;
  return state;
}

void Checkpoints::save(const TrainingState& state) {
  save_training_state(folder_.state_file(), state, parameters_, adam_);
  last_saved_ = state.update;
  monitor_.on_save(state.update);
}

// Files that the saved state names are removed only after a newer state is in place: a kill at any moment leaves a
// state whose files are all there.
void Checkpoints::keep(TrainingState& state, const Candidate& checkpoint) {
  const bool best = better(checkpoint, state.best);
  state.since_better = best ? 0 : state.since_better + 1;
  if (best) state.best = state.model = checkpoint;
  state.recent.push_back(state.update);
  if (static_cast<Index>(state.recent.size()) > average_) state.recent.erase(state.recent.begin());
  files_.write(state.update);
  save(state);
  if (best) write_model();
  files_.remove_all_but(kept_updates(state));
}

void Checkpoints::finish(TrainingState& state, const std::optional<Candidate>& last,
                         const std::function<ValidationScore()>& measure) {
  Candidate best = state.best;
  std::vector<Index> recent = state.recent;
  if (last) {
    files_.write(state.update);
    recent.push_back(state.update);
    if (better(*last, best)) best = *last;
  }
  std::vector<Tensor> trained;
  for (const auto& [name, var] : parameters_) trained.push_back(var.value().clone());
  state.model = best_candidate(best, recent, measure);
  files_.set_to_mean(state.model.updates);
  write_model();
  for (std::size_t i = 0; i < trained.size(); ++i) parameters_[i].var.set_value(trained[i].view());
  state.finished = true;
  save(state);
  files_.remove_all_but(kept_updates(state));
}

void Checkpoints::write_model() const {
  save_parameters(folder_.path() / "model.safetensors", parameters_);
  write_json(folder_.path() / "config.json", config_);
}

Candidate Checkpoints::best_candidate(const Candidate& best, const std::vector<Index>& recent,
                                      const std::function<ValidationScore()>& measure) {
  Candidate chosen = best;
  const Index most = std::min(average_, static_cast<Index>(recent.size()));
  for (Index count = 2; count <= most; ++count) {
    Candidate mean{.updates = {recent.end() - count, recent.end()}};
    files_.set_to_mean(mean.updates);
    const ValidationScore score = measure();
    mean.bleu = score.bleu.value_or(0), mean.loss = score.loss;
    monitor_.on_candidate(mean);
    if (better(mean, chosen)) chosen = mean;
  }
  return chosen;
}

}  // namespace heed
