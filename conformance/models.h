// Models that other projects trained or made, with the outputs that they state.
#pragma once

#include <filesystem>

#include "report.h"

namespace heed::conformance {

// Runs the cases of every folder at or below `folder` that has a cases.json: ids in; logits, hidden states, generated
// ids and texts out, at the tolerance that the file states. A GGUF file beside the model is run too.
void run_model_cases(const std::filesystem::path& folder, Report& report);

}  // namespace heed::conformance
