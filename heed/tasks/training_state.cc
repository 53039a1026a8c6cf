#include "heed/tasks/training_state.h"

#include <map>
#include <string>

#include "heed/base/check.h"
#include "heed/io/json.h"
#include "heed/io/safetensors.h"
#include "heed/tasks/model_folder.h"

namespace heed {
namespace {

constexpr std::string_view kValue = "value:", kFirst = "first_moment:", kSecond = "second_moment:";

// Counts beyond this no run reaches, and arithmetic on them could overflow.
constexpr Index kMostUpdates = Index{1} << 48;

Json to_json(const Candidate& candidate) {
  return Json::object(
      {{"updates", Json::array_of(candidate.updates)}, {"bleu", candidate.bleu}, {"loss", candidate.loss}});
}

Candidate candidate_from_json(const Json& json) {
  return {json["updates"].integer_list(0, kMostUpdates), json["bleu"].number(), json["loss"].number()};
}

ParameterList moments(const ParameterList& parameters, const Adam& adam, bool first) {
  ParameterList list;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    list.push_back({parameters[i].name, Var(first ? adam.first_moment(i) : adam.second_moment(i))});
  }
  return list;
}

}  // namespace

void save_training_state(const std::filesystem::path& file, const TrainingState& state, const ParameterList& parameters,
                         const Adam& adam) {
  std::map<std::string, ConstView> tensors;
  const auto add = [&](std::string_view prefix, const ParameterList& list) {
    for (const auto& [name, var] : list) tensors[std::string(prefix) + name] = var.value().view();
  };
  add(kValue, parameters);
  add(kFirst, moments(parameters, adam, true));
  add(kSecond, moments(parameters, adam, false));
  const Json json = Json::object({{"update", state.update},
                                  {"epoch", state.epoch},
                                  {"batch", state.batch},
                                  {"seconds", state.seconds},
                                  {"recent", Json::array_of(state.recent)},
                                  {"best", to_json(state.best)},
                                  {"since_better_bleu", state.since_better_bleu},
                                  {"model", to_json(state.model)},
                                  {"finished", state.finished}});
  write_safetensors(file, tensors, {{"state", json.dump()}});
}

TrainingState load_training_state(const std::filesystem::path& file, const ParameterList& parameters, Adam& adam) {
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(file, &metadata);
  HEED_CHECK(metadata.contains("state"), "{}: is not a training state", file.string());
  const Json json = Json::parse(metadata["state"], file.string());
  HEED_CHECK(!json.has("rng_position"),
             "{}: was saved by an older heed, whose dropout nobody draws again: go on with that, or train anew in "
             "another folder",
             file.string());
  TrainingState state;
  state.update = json["update"].integer(0, kMostUpdates);
  state.epoch = json["epoch"].integer(0, kMostUpdates);
  state.batch = json["batch"].integer(0, kMostUpdates);
  state.seconds = json["seconds"].number();
  state.recent = json["recent"].integer_list(0, kMostUpdates);
  state.best = candidate_from_json(json["best"]);
  state.since_better_bleu = json["since_better_bleu"].integer(0, kMostUpdates);
  state.model = candidate_from_json(json["model"]);
  state.finished = json["finished"].boolean();
  set_parameters(tensors, parameters, file, kValue);
  set_parameters(tensors, moments(parameters, adam, true), file, kFirst);
  set_parameters(tensors, moments(parameters, adam, false), file, kSecond);
  adam.set_updates(state.update);
  return state;
}

}  // namespace heed
