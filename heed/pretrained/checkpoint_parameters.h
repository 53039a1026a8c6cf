// Parameters from another toolkit's file, each made by the rule for its name.
//
//   std::unique_ptr<Checkpoint> file = open_checkpoint("gpt2");
//   CheckpointParameters loaded(*file, rules, heads);
//   Transformer model(loaded, config);
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "heed/io/checkpoint.h"
#include "heed/layers/parameter_scope.h"
#include "heed/pretrained/tensor_rule.h"

namespace heed {

// Where the file holds a tensor as heed reads it, the parameter is the file's memory and nothing is copied; parameters
// are constants, which inference reads. Numbers that heed adapts (stacked, transposed, of another type) have memory of
// their own.
class CheckpointParameters final : public ParameterSource {
 public:
  // The names in the rules may begin with `prefix`, which the file may leave out in all of its names: a model saved
  // without its head; or it has `transformer.` in its place, as some classes with another head; norms may have gamma
  // and beta, as in files from before PyTorch. `heads` is how many the layout heads_apart has.
  CheckpointParameters(const Checkpoint& file, std::vector<TensorRule> rules, std::string prefix, Index heads);

  // Whether a rule names this parameter and the file has what it is made of.
  bool has(const std::string& parameter) const;
  // Throws heed::Error naming the tensors that parameters of these shapes need and the file has not.
  void check_there(std::span<const ParameterShape> wanted) const;
  // Throws heed::Error naming the tensors of the file that no parameter was made of and that are under one of the
  // `paths` (with `*`), but for those whose names end with one of `ignored`: a model with more parts than heed knows
  // would be another model.
  void check_used(std::span<const std::string> paths, std::span<const std::string> ignored) const;

 private:
  // Throws heed::Error that names the file and the tensor where it is not there, or has another shape.
  Var value(const ParameterShape& wanted, const Initial& initial) override;
  // The rule for a parameter and the names of its tensors in the file, whether they are there or not.
  struct Found {
    const TensorRule* rule;
    std::vector<std::string> names;
  };
  std::optional<Found> rule_for(const std::string& parameter) const;
  // Throws heed::Error where there is no rule.
  Found find(const std::string& parameter) const;
  std::string in_file(std::string name) const;
  // Whether there are some, and the file has them.
  bool has_all(std::span<const std::string> names) const;
  Var alone(const TensorRule& rule, const std::string& name, const ParameterShape& wanted) const;
  Var adapted(const TensorRule& rule, std::span<const std::string> names, const ParameterShape& wanted) const;

  const Checkpoint& file_;
  std::vector<TensorRule> rules_;
  std::string prefix_;
  Index heads_;
  std::set<std::string> used_;
};

}  // namespace heed
