// A layer of multi-head attention for its tests, and what a call of it needs.
//
//   CrossLayer layer({.embed_dim = 8, .num_heads = 2});
//   const Attended attended = layer(q, k, v, {.key_padding_mask = random_booleans({2, 6}, rng)});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include "heed/base/random.h"
#include "heed/layers/drawn_parameters.h"
#include "heed/layers/multihead_attention.h"
#include "heed/testing/gradient_check.h"

namespace heed::testing {

inline constexpr double kTolerance = 1e-5;  // PyTorch's own tests: atol of outputs and of weights

// A layer with initial weights, none of whose biases and sinks is zero as they are at first, and what a call needs.
struct CrossLayer {
  explicit CrossLayer(const MultiheadAttentionOptions& options, std::uint64_t seed = 1,
                      const std::string& path = "attention")
      : rng(seed), drawn(rng), attention(ParameterScope(drawn) / path, AttentionKind::cross, options) {
    for (const auto& [path_name, var] : drawn.list()) {
      const std::string name = path_name.substr(path.size() + 1);
      list.push_back({name, var});
      if (var.rank() == 1) var.set_value(random_tensor(DType::f32, {var.dim(0)}, seed++, 0.5));
      parameters[name] = var;
    }
  }
  Context context(AttentionObserver* observer = nullptr) { return Context::inference(workspace, observer); }
  Attended operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionArguments& arguments = {}) {
    return attention.forward(context(), Var(q), Var(k), Var(v), arguments);
  }
  Tensor self(const Tensor& x, const AttentionArguments& arguments = {}) {
    const Var in(x);
    return attention.forward(context(), in, in, in, arguments).out.value();
  }

  Rng rng;
  Workspace workspace;
  DrawnParameters drawn;
  MultiheadAttention attention;
  ParameterList list;
  std::map<std::string, Var> parameters;
};

inline Tensor random_booleans(std::initializer_list<Index> shape, Rng& rng) {
  const Tensor mask = Tensor::empty(DType::boolean, shape);
  for (Index i = 0; i < mask.size(); ++i) mask.data<bool>()[i] = rng.uniform() < 0.3;
  return mask;
}

}  // namespace heed::testing
