// Parameters from a safetensors file: how a model is made that has been trained.
//
//   ListedParameters listed;
//   Transformer(listed, config);
//   LoadedParameters loaded("model.safetensors", listed.shapes());
//   Transformer model(loaded, config);
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "heed/base/error.h"
#include "heed/layers/parameter_scope.h"

namespace heed {

// The tensors of the file are the parameters, in the types that they have there: nothing is drawn, and no number is in
// memory twice. They are the file's own pages (heed/io/checkpoint.h): training writes to copies of them. Cost: the time
// of reading the file.
class LoadedParameters final : public ParameterSource {
 public:
  // Opens the file, whose tensors must be those that are `wanted`, no more and no fewer: f32, or weights
  // (ParameterShape::is_weight) in a narrow type, which only inference reads (Var::narrow). Throws heed::Error that
  // names the file and the tensors otherwise, before it reads them, and for an element that is infinite or NaN.
  LoadedParameters(const std::filesystem::path& path, std::span<const ParameterShape> wanted);

 private:
  Var value(const ParameterShape& wanted, const Initial& initial) override;

  std::string file_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace heed
