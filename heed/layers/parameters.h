// The named parameters of a model, in the order in which its layers asked for them.
//
//   for (const auto& [name, var] : drawn.list()) ...
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/var.h"

namespace heed {

struct NamedParameter {
  std::string name;  // as in a PyTorch state_dict: "encoder.layers.0.self_attn.in_proj_weight"
  Var var;
};

using ParameterList = std::vector<NamedParameter>;

// What a parameter is, without its value.
struct ParameterShape {
  std::string name;
  std::vector<Index> shape;
  bool is_weight = false;  // a matrix that its layer reads in any type of heed/ops/weight.h

  friend bool operator==(const ParameterShape&, const ParameterShape&) = default;
};

}  // namespace heed
