// Parameters that are there already: how a model is made again with what another one has.
//
//   GivenParameters given(trainable(folder.parameters), "model");
//   std::unique_ptr<SequenceModel> model = make_model(given, folder.config);
#pragma once

#include <string>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

// Binds each parameter to the Var of its name, whatever that is: narrow, frozen, with factors (Var::adapted).
class GivenParameters final : public ParameterSource {
 public:
  // `name` is what errors call the list.
  GivenParameters(const ParameterList& parameters, std::string name);

 private:
  // Throws heed::Error for a parameter that is not there, or has another shape.
  Var value(const ParameterShape& wanted, const Initial& initial) override;

  std::unordered_map<std::string, Var> given_;
  std::string name_;
};

// A weight's values as f32, with memory of their own: of a narrow one those that inference reads.
Tensor widened(const Var& weight);

// The same values as parameters that training may change: f32, each with memory of its own.
ParameterList trainable(const ParameterList& parameters);

}  // namespace heed
