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
  const auto is_normed = [&](bool decoder) {
    if (c.has_final_norm(decoder) && !model.may_lack_final_norms) return true;
    return named.has(decoder ? "decoder.norm.weight" : "encoder.norm.weight");
  };
  const bool encoder = c.has_encoder() && is_normed(false), decoder = is_normed(true);
  const bool as_said = (!c.has_encoder() || encoder == c.has_final_norm(false)) && decoder == c.has_final_norm(true);
  if (!as_said) c.final_norm = c.has_encoder() ? final_norm_of(encoder, decoder) : final_norm_of(decoder, decoder);
}

}  // namespace heed
