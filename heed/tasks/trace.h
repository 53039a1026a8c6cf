// What a model attends to while it translates one sentence, or reads a text.
//
//   const std::string source = "Guten Morgen.";
//   const auto best = Translator(model).translate({&source, 1}, {.beam = 5});
//   AttentionTrace trace = trace_pair(model, source, best[0][0].tokens);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/observe/trace.h"
#include "heed/tasks/model_folder.h"

namespace heed {

// Runs the model once over the source and the given target ids (without end token), teacher-forced, and records every
// attention map. Throws heed::Error for a source without tokens, and for a side of more tokens than the model can hold;
// with `crop` the first ones are looked at instead.
AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> target_ids,
                          bool crop = false);

// The same of a language model that reads a text's ids: the trace has no source, and decoder maps alone. `name` is what
// an error calls the text. Throws heed::Error for a text without tokens, and as trace_pair does.
AttentionTrace trace_text(const ModelFolder& folder, std::span<const int> ids, bool crop = false,
                          std::string_view name = "trace_text");

}  // namespace heed
