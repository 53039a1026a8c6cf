// Models that other projects trained or made, with the outputs that they state.
#pragma once

#include <filesystem>

#include "heed/tasks/convert.h"
#include "report.h"

namespace heed::conformance {

// Runs the cases of every folder at or below `folder` that has a cases.json: ids in; logits, hidden states, generated
// ids and texts out, at the tolerance that the file states. A GGUF file beside the model is run too.
// Weights of f32 are the file's; rounded ones are held, at the same tolerance, against f32 weights that were rounded by
// definition (plainly_rounded), int8 at twice that, since a processor's whole numbers may round activations to 24 bits;
// and what is generated, which any error may turn, is left out.
void run_model_cases(const std::filesystem::path& folder, Precision type, Report& report);

}  // namespace heed::conformance
