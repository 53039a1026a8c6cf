// What a model attends to while it translates one sentence.
//
//   AttentionTrace trace = trace_translation(model, "Guten Morgen.", {.beam = 5});
#pragma once

#include <string>

#include "heed/decode/beam_search.h"
#include "heed/observe/trace.h"
#include "heed/tasks/model_folder.h"

namespace heed {

// Runs the model once over the source and the given target ids (without end token), teacher-forced, and records every
// attention map. Throws heed::Error for a sentence without tokens or of more than the model can hold.
AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> target_ids);

// Translates, and traces the best translation.
AttentionTrace trace_translation(const ModelFolder& folder, const std::string& source_text, const BeamOptions& options);

}  // namespace heed
