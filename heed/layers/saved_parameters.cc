#include "heed/layers/saved_parameters.h"

#include <fmt/format.h>

#include <unordered_set>

#include "heed/base/check.h"
#include "heed/base/printable.h"
#include "heed/io/file_tensor.h"

namespace heed {
namespace {

constexpr std::size_t kMostNamed = 5;

std::string type_and_shape(DType dtype, std::span<const Index> shape) {
  return fmt::format("{} [{}]", name_of(dtype), fmt::join(shape, ", "));
}

std::string type_and_shape(const StoredTensor& stored) {
  return type_and_shape(stored.dtype(), std::span(stored.shape).first(static_cast<std::size_t>(stored.rank)));
}

}  // namespace

std::string scales_of(const std::string& weight) { return weight + ".scales"; }

void save_parameters(const std::filesystem::path& path, const ParameterList& parameters,
                     const std::map<std::string, std::string>& metadata) {
  std::map<std::string, ConstView> tensors;
  for (const auto& [name, var] : parameters) {
    HEED_CHECK(var.blocks() == BlockType::none, "{}: {}: {} has no place in this file", path.string(), printable(name),
               describe_weight(var));
    tensors[name] = var.value().view();
    if (!var.scales().is_empty()) tensors[scales_of(name)] = var.scales().view();
  }
  write_safetensors(path, tensors, metadata);
}

void check_parameters(const Checkpoint& file, std::span<const ParameterShape> wanted) {
  std::vector<std::string> misfits;
  std::size_t more = 0;
  const auto add = [&](std::string misfit) {
    misfits.size() < kMostNamed ? misfits.push_back(std::move(misfit)) : void(++more);
  };
  const Checkpoint::Tensors& tensors = file.tensors();
  std::unordered_set<std::string> known;
  // Holds the tensor `name`, f32 or of a narrow type, to its shape, and returns its type.
  const auto need = [&](const std::string& name, bool narrow, std::span<const Index> shape) {
    known.insert(name);
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
      add(fmt::format("has no tensor {}", printable(name)));
      return DType::f32;
    }
    const DType type = narrow && is_narrow(found->second.dtype()) ? found->second.dtype() : DType::f32;
    const std::string held = type_and_shape(found->second), needed = type_and_shape(type, shape);
    if (held != needed) add(fmt::format("{} is {}, but the model needs {}", printable(name), held, needed));
    return type;
  };
  for (const ParameterShape& parameter : wanted) {
    const DType type = need(parameter.name, parameter.is_weight, parameter.shape);
    if (type == DType::i8) need(scales_of(parameter.name), false, std::span(parameter.shape).first(1));
  }
  for (const auto& [name, entry] : tensors) {
    if (!known.contains(name)) add(fmt::format("the model has no parameter {}", printable(name)));
  }
  HEED_CHECK(misfits.empty(), "{}: {}{}", file.name(), fmt::join(misfits, "; "),
             more > 0 ? fmt::format("; and {} more that do not fit", more) : "");
}

void read_parameters(const Checkpoint& file, const ParameterList& parameters) {
  std::vector<ParameterShape> shapes;
  for (const auto& [name, var] : parameters) {
    const View& value = var.value().view();
    shapes.push_back({name, {value.shape.begin(), value.shape.begin() + value.rank}});
  }
  check_parameters(file, shapes);
  for (const auto& [name, var] : parameters) {
    const Tensor tensor = file.tensor(name);
    check_finite(tensor, fmt::format("{}: {}", file.name(), printable(name)));
    var.set_value(tensor.view());
  }
}

}  // namespace heed
