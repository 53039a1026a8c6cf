// Names and shapes alone, without a number: what a model of some configuration is made of, however large it would be.
//
//   ListedParameters listed;
//   Transformer(listed, config);                         // nothing of which can be used
//   check_parameters(file, listed.shapes());
#pragma once

#include "heed/layers/parameter_scope.h"

namespace heed {

class ListedParameters final : public ParameterSource {
 public:
  bool only_lists() const override { return true; }

 private:
  Var value(const ParameterShape&, const Initial&) override { return {}; }
};

}  // namespace heed
