#include "heed/pretrained/fit_to_file.h"

#include "heed/pretrained/checkpoint_parameters.h"

namespace heed {
namespace {

// Whether config.json names an architecture that has an output: then a file without one is damaged.
bool says_output(const FamilyModel& model) {
  if (!model.heads) return false;
  const std::string& name = model.heads->architecture;
  return name.ends_with("ForCausalLM") || name.ends_with("ForConditionalGeneration") || name.ends_with("LMHeadModel");
}

}  // namespace

void fit_to_file(FamilyModel& model, const Checkpoint& file) {
  TransformerConfig& c = model.config;
  if (!c.has_decoder()) return;
  const CheckpointParameters named(file, model.rules, model.prefix, c.heads);
  if (!c.tie_output && !says_output(model) && !named.has("generator.weight")) c.has_output = false;
  if (c.output_bias && !named.has("generator.bias")) c.output_bias = false;
  if (!c.has_final_norm() && named.has("decoder.norm.weight")) c.final_norm = FinalNorm::always;
}

}  // namespace heed
