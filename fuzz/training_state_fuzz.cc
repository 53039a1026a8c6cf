// Saved training states: a state that was loaded and is saved again loads as the same, for the parameters that the file
// itself describes. Input that begins as a JSON object is the state alone, and is put into a file of two parameters.
#include "heed/tasks/training_state.h"

#include <algorithm>
#include <array>

#include "heed/base/file.h"
#include "heed/io/safetensors.h"
#include "property.h"
#include "scratch_file.h"

namespace heed::fuzz {
namespace {

constexpr std::string_view kValue = "value:";

std::filesystem::path file_of_state(std::string_view json) {
  const std::filesystem::path file = scratch_folder() / "state.safetensors";
  std::map<std::string, Tensor> tensors;
  for (const std::string part : {"value:", "first_moment:", "second_moment:"}) {
    tensors[part + "weight"] = Tensor::zeros(DType::f32, {2, 3});
    tensors[part + "bias"] = Tensor::zeros(DType::f32, {2});
  }
  write_safetensors(file, {tensors.begin(), tensors.end()}, {{"state", std::string(json)}});
  return file;
}

// A model's side of a state: its parameters, and the optimiser that holds on to them.
struct Model {
  explicit Model(const std::map<std::string, Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      if (!name.starts_with(kValue) || tensor.dtype() != DType::f32) continue;
      parameters.push_back({name.substr(kValue.size()), Var::parameter(Tensor::zeros_like(tensor))});
    }
    std::vector<Var> vars;
    for (const NamedParameter& parameter : parameters) vars.push_back(parameter.var);
    adam.emplace(AdamOptions{}, vars);
  }

  std::string save(const TrainingState& state) const {
    const std::filesystem::path file = scratch_folder() / "written.safetensors";
    save_training_state(file, state, parameters, *adam);
    return read_file(file);
  }

  ParameterList parameters;
  std::optional<Adam> adam;
};

void check_training_state(std::string_view bytes) {
  const auto file = taken([&] { return bytes.starts_with('{') ? file_of_state(bytes) : scratch_file("state", bytes); });
  if (!file) return;
  const auto tensors = taken([&] { return read_safetensors(*file); });
  if (!tensors) return;
  Model model(*tensors), other(*tensors);
  const auto state = taken([&] { return load_training_state(*file, model.parameters, *model.adam); });
  if (!state) return;
  const std::string written = model.save(*state);
  const TrainingState again =
      load_training_state(scratch_folder() / "written.safetensors", other.parameters, *other.adam);
  require(other.save(again) == written, "what is saved loads as the same");
}

}  // namespace
}  // namespace heed::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heed::fuzz::check_training_state(heed::fuzz::bytes_of(data, size));
  return 0;
}
