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
                                  {"rng_position", static_cast<Index>(state.rng_position)},
                                  {"seconds", state.seconds},
                                  {"best_bleu", state.best_bleu},
                                  {"since_best", state.since_best},
                                  {"averaged", Json::array_of(state.averaged)},
                                  {"finished", state.finished}});
  write_safetensors(file, tensors, {{"state", json.dump()}});
}

TrainingState load_training_state(const std::filesystem::path& file, const ParameterList& parameters, Adam& adam) {
  std::map<std::string, std::string> metadata;
  const std::map<std::string, Tensor> tensors = read_safetensors(file, &metadata);
  HEED_CHECK(metadata.contains("state"), "{}: is not a training state", file.string());
  const Json json = Json::parse(metadata["state"], file.string());
  TrainingState state;
  state.update = json["update"].integer(0);
  state.epoch = json["epoch"].integer(0);
  state.batch = json["batch"].integer(0);
  state.rng_position = static_cast<std::uint64_t>(json["rng_position"].integer(0));
  state.seconds = json["seconds"].number();
  state.best_bleu = json["best_bleu"].number();
  state.since_best = json["since_best"].integer(0);
  state.averaged = json["averaged"].integer_list(0);
  state.finished = json["finished"].boolean();
  set_parameters(tensors, parameters, file, kValue);
  set_parameters(tensors, moments(parameters, adam, true), file, kFirst);
  set_parameters(tensors, moments(parameters, adam, false), file, kSecond);
  adam.set_updates(state.update);
  return state;
}

std::filesystem::path kept_parameters_file(const std::filesystem::path& training_folder, Index update) {
  return training_folder / fmt::format("parameters-{}.safetensors", update);
}

void set_to_mean(const std::vector<std::filesystem::path>& files, const ParameterList& parameters) {
  HEED_CHECK(!files.empty(), "set_to_mean: there are no files");
  std::vector<std::vector<double>> sums;
  for (const auto& [name, var] : parameters) sums.emplace_back(static_cast<std::size_t>(var.value().size()), 0.0);
  for (const std::filesystem::path& file : files) {
    set_parameters(read_safetensors(file), parameters, file);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const float* value = parameters[p].var.value().data<float>();
      for (std::size_t i = 0; i < sums[p].size(); ++i) sums[p][i] += value[i];
    }
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    float* value = parameters[p].var.value().data<float>();
    for (std::size_t i = 0; i < sums[p].size(); ++i)
      value[i] = static_cast<float>(sums[p][i] / static_cast<double>(files.size()));
  }
}

}  // namespace heed
