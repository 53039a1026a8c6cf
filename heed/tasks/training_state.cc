#include "heed/tasks/training_state.h"

#include "heed/base/check.h"
#include "heed/io/json.h"
#include "heed/layers/saved_parameters.h"

namespace heed {
namespace {

// Counts beyond this no run reaches, and arithmetic on them could overflow.
constexpr Index kMostUpdates = Index{1} << 48;

Json to_json(const Candidate& candidate) {
  return Json::object(
      {{"updates", Json::array_of(candidate.updates)}, {"bleu", candidate.bleu}, {"loss", candidate.loss}});
}

Candidate candidate_from_json(const Json& json) {
  return {json["updates"].integer_list(0, kMostUpdates), json["bleu"].number(), json["loss"].number()};
}

// Parameters and moments, under the names that they have in the file.
ParameterList everything(const ParameterList& parameters, const Adam& adam) {
  ParameterList all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, var] = parameters[i];
    all.push_back({"value:" + name, var});
    all.push_back({"first_moment:" + name, Var(adam.first_moment(i))});
    all.push_back({"second_moment:" + name, Var(adam.second_moment(i))});
  }
  return all;
}

}  // namespace

void save_training_state(const std::filesystem::path& file, const TrainingState& state, const ParameterList& parameters,
                         const Adam& adam) {
  const Json json = Json::object({{"update", state.update},
                                  {"epoch", state.epoch},
                                  {"batch", state.batch},
                                  {"seconds", state.seconds},
                                  {"recent", Json::array_of(state.recent)},
                                  {"best", to_json(state.best)},
                                  {"since_better", state.since_better},
                                  {"model", to_json(state.model)},
                                  {"finished", state.finished}});
  save_parameters(file, everything(parameters, adam), {{"state", json.dump()}});
}

TrainingState load_training_state(const std::filesystem::path& path, const ParameterList& parameters, Adam& adam) {
  const Checkpoint file = open_safetensors(path);
  HEED_CHECK(file.metadata().has("state"), "{}: is not a training state", file.name());
  const Json json = Json::parse(file.metadata()["state"].string(), file.name());
  HEED_CHECK(!json.has("rng_position"),
             "{}: was saved by an older heed, whose dropout nobody draws again: go on with that, or train anew in "
             "another folder",
             file.name());
  TrainingState state;
  state.update = json["update"].integer(0, kMostUpdates);
  state.epoch = json["epoch"].integer(0, kMostUpdates);
  state.batch = json["batch"].integer(0, kMostUpdates);
  state.seconds = json["seconds"].number();
  state.recent = json["recent"].integer_list(0, kMostUpdates);
  state.best = candidate_from_json(json["best"]);
  state.since_better = json["since_better"].integer(0, kMostUpdates);
  state.model = candidate_from_json(json["model"]);
  state.finished = json["finished"].boolean();
  read_parameters(file, everything(parameters, adam));
  adam.set_updates(state.update);
  return state;
}

}  // namespace heed
