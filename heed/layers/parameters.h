// The named parameters of a model, in a fixed order.
//
//   ParameterList list;
//   model.parameters(list);
//   for (const auto& [name, var] : list) ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/autograd/var.h"

namespace heed {

struct NamedParameter {
  std::string name;  // as in a PyTorch state_dict: "encoder.layers.0.self_attn.in_proj_weight"
  Var var;
};

using ParameterList = std::vector<NamedParameter>;

// "a.b", or "b" where the path is empty.
inline std::string join_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

// Adds a layer's parameter unless it is empty (a layer without bias).
inline void add_parameter(ParameterList& list, const std::string& path, std::string_view name, const Var& var) {
  if (var) list.push_back({join_path(path, name), var});
}

}  // namespace heed
