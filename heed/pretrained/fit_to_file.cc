#include "heed/pretrained/fit_to_file.h"

#include "heed/pretrained/checkpoint_parameters.h"

namespace heed {

void fit_to_file(FamilyModel& model, const Checkpoint& file) {
  TransformerConfig& c = model.config;
  if (!c.has_decoder()) return;
  const CheckpointParameters named(file, model.rules, model.prefix, c.heads);
  if (!c.tie_output && !named.has("generator.weight")) c.has_output = false;
  if (c.output_bias && !named.has("generator.bias")) c.output_bias = false;
  if (!c.has_final_norm() && named.has("decoder.norm.weight")) c.final_norm = FinalNorm::always;
}

}  // namespace heed
