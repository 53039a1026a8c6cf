// Fields of the config.json that Hugging Face's models have: one that may be missing, or null, or have an older name.
//
//   const Index layers = layer_count(json, {"num_hidden_layers", "n_layer"});
//   const double epsilon = number_or(json, {"layer_norm_eps"}, 1e-12);
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/io/json.h"
#include "heed/kernels/activation.h"

namespace heed {

// The first of these that is there and not null; none of them is none.
std::optional<Json> find_field(const Json& config, std::initializer_list<std::string_view> names);
// The same, of which one must be there. Throws heed::Error that names the first.
Json field(const Json& config, std::initializer_list<std::string_view> names);
inline constexpr Index kMostLayers = 1024;  // of a model
// A number of layers, of at least 1.
Index layer_count(const Json& config, std::initializer_list<std::string_view> names);
// An extent of at least 1.
Index extent(const Json& config, std::initializer_list<std::string_view> names);
Index extent_or(const Json& config, std::initializer_list<std::string_view> names, Index otherwise);
double number_or(const Json& config, std::initializer_list<std::string_view> names, double otherwise);
bool flag_or(const Json& config, std::initializer_list<std::string_view> names, bool otherwise);
std::int32_t id_or(const Json& config, std::initializer_list<std::string_view> names, std::int32_t otherwise);
// The number of a field that may be null, which is 0; `otherwise` where it is left out. Hugging Face's classes tell the
// two apart: a Mistral without sliding_window has the class's, one with null has none.
double nullable_number(const Json& config, std::string_view name, double otherwise);
Index nullable_extent(const Json& config, std::string_view name, Index otherwise);
// eos_token_id: an id, a list of some, or null; -1 and null name none. `otherwise` where it is left out, -1 for none.
std::vector<std::int32_t> end_ids(const Json& config, std::int32_t otherwise = -1);
// Hugging Face's name of an activation: gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, relu, silu, swish, tanh,
// sigmoid, linear.
Activation activation_of(const Json& name);
// Throws heed::Error that names the field where it is there and is not `only`: what heed does not compute.
void refuse_unless(const Json& config, std::string_view name, bool only);

}  // namespace heed
