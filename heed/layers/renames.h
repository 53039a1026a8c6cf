// What the parameters of a model are called in another toolkit's files.
//
//   const Renames renames{{"embedding", "model.shared"}, {"encoder.layers.*.linear1", "model.encoder.layers.*.fc1"}};
//   renames("encoder.layers.3.linear1.weight");          // "model.encoder.layers.3.fc1.weight"
//   LoadedParameters loaded("pytorch_model.safetensors", listed.shapes(), renames);
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"

namespace heed {

// A rule is two paths: heed's, and the file's that takes its place at the beginning of a name. Paths consist of
// elements between dots; `*` in the first stands for any one element, and the first, second, ... `*` of the second for
// what the first, second, ... of the first stood for. Of several rules that fit a name the first holds; a name that
// none fits stays. Two names may become one, for parameters that are one tensor in the file.
class Renames {
 public:
  Renames() = default;
  // Throws heed::Error for a rule whose second path has more `*` than its first.
  Renames(std::initializer_list<std::pair<std::string_view, std::string_view>> rules);

  // The file's name of the parameter that heed calls `name`.
  std::string operator()(std::string_view name) const;

 private:
  using Path = std::vector<std::string>;
  std::vector<std::pair<Path, Path>> rules_;
};

}  // namespace heed
