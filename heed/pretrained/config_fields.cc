#include "heed/pretrained/config_fields.h"

#include <fmt/format.h>

#include <utility>

#include "heed/base/check.h"

namespace heed {
namespace {

constexpr Index kLargestExtent = 1 << 24;

}  // namespace

std::optional<Json> find_field(const Json& config, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (config.has(name) && !config[name].is_null()) return config[name];
  }
  return {};
}

Json field(const Json& config, std::initializer_list<std::string_view> names) {
  const std::optional<Json> found = find_field(config, names);
  return found ? *found : config[*names.begin()];
}

Index layer_count(const Json& config, std::initializer_list<std::string_view> names) {
  return field(config, names).integer(1, kMostLayers);
}

Index extent(const Json& config, std::initializer_list<std::string_view> names) {
  return field(config, names).integer(1, kLargestExtent);
}

Index extent_or(const Json& config, std::initializer_list<std::string_view> names, Index otherwise) {
  const std::optional<Json> found = find_field(config, names);
  return found ? found->integer(1, kLargestExtent) : otherwise;
}

double number_or(const Json& config, std::initializer_list<std::string_view> names, double otherwise) {
  const std::optional<Json> found = find_field(config, names);
  return found ? found->number() : otherwise;
}

bool flag_or(const Json& config, std::initializer_list<std::string_view> names, bool otherwise) {
  const std::optional<Json> found = find_field(config, names);
  return found ? found->boolean() : otherwise;
}

std::int32_t id_or(const Json& config, std::initializer_list<std::string_view> names, std::int32_t otherwise) {
  const std::optional<Json> found = find_field(config, names);
  return found ? static_cast<std::int32_t>(found->integer(-1, kLargestExtent)) : otherwise;
}

double nullable_number(const Json& config, std::string_view name, double otherwise) {
  return config.has(name) ? number_or(config, {name}, 0) : otherwise;
}

Index nullable_extent(const Json& config, std::string_view name, Index otherwise) {
  return config.has(name) ? extent_or(config, {name}, 0) : otherwise;
}

std::vector<std::int32_t> end_ids(const Json& config, std::int32_t otherwise) {
  std::vector<std::int32_t> ids;
  if (!config.has("eos_token_id") && otherwise >= 0) ids.push_back(otherwise);
  const std::optional<Json> found = find_field(config, {"eos_token_id"});
  if (!found) return ids;
  const bool is_list = found->kind() == Json::Kind::array;
  for (const Json& id : is_list ? found->items() : std::vector<Json>{*found}) {
    // -1 and null are in some files, and no token.
    if (id.is_null() || id.integer(-1, kLargestExtent) < 0) continue;
    ids.push_back(static_cast<std::int32_t>(id.integer()));
  }
  return ids;
}

Activation activation_of(const Json& name) {
  static constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"gelu", Activation::gelu},
      {"gelu_python", Activation::gelu},
      {"gelu_new", Activation::gelu_tanh},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_fast", Activation::gelu_tanh},
      {"quick_gelu", Activation::gelu_sigmoid},
      {"relu", Activation::relu},
      {"leaky_relu", Activation::leaky_relu},
      {"relu6", Activation::relu6},
      {"mish", Activation::mish},
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"tanh", Activation::tanh},
      {"gelu_accurate", Activation::gelu_tanh},
      {"gelu_python_tanh", Activation::gelu_tanh},
      {"sigmoid", Activation::sigmoid},
      {"linear", Activation::identity},
  };
  for (const auto& [known, activation] : kNames) {
    if (name.string() == known) return activation;
  }
  name.refuse(
      "must be an activation that heed has (gelu, gelu_new, gelu_pytorch_tanh, quick_gelu, relu, leaky_relu, relu6, "
      "silu, mish, tanh, sigmoid, linear)");
}

void refuse_unless(const Json& config, std::string_view name, bool only) {
  const std::optional<Json> found = find_field(config, {name});
  if (found && found->boolean() != only) found->refuse(fmt::format("heed has models with {} alone", only));
}

}  // namespace heed
