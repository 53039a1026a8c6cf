// What config.json leaves open of a model with a decoder, and its file says.
//
//   FamilyModel model = describe_model(config);
//   fit_to_file(model, file);                      // a file of the stacks alone: model.config.has_output is false
#pragma once

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// Takes the output projection away where it is not tied and the file has none, as where a model was saved without its
// head, but not where config.json names an architecture with one; and its bias where the file has none; and adds the
// norms behind PyTorch's stacks where the file has some, or, of models that may lack them, takes them away where it has
// none.
void fit_to_file(FamilyModel& model, const Checkpoint& file);

}  // namespace heed
