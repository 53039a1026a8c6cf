// What a model attends to while it translates one sentence, or reads a text.
//
//   const std::string source = "Guten Morgen.";
//   const auto best = Translator(model).translate({&source, 1}, {.beam = 5});
//   AttentionTrace trace = trace_pair(model, source, best[0][0].tokens, {.parts = {.scores = true}});
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/decode/beam_search.h"
#include "heed/metrics/alignment.h"
#include "heed/observe/recorder.h"
#include "heed/observe/trace.h"
#include "heed/tasks/model_folder.h"

namespace heed {

struct TraceOptions {
  bool crop = false;   // of a text of more tokens than the model can hold, the first ones are looked at
  TraceParts parts{};  // what is kept besides the weights
};

// Runs the model once over the source and the given target ids (without end token), teacher-forced, and records every
// attention map. Throws heed::Error for a source without tokens, and for a side of more tokens than the model can hold.
AttentionTrace trace_pair(const ModelFolder& folder, const std::string& source_text, std::span<const int> target_ids,
                          const TraceOptions& options = {});

// The same of a translation that somebody wrote, with links between words that somebody drew: words are those that the
// links count (alignment_tokens of heed/corpus/corpus.h). Throws heed::Error also for a link to a word that is none.
AttentionTrace trace_aligned_pair(const ModelFolder& folder, const std::string& source_text,
                                  const std::string& target_text, const GoldAlignment& gold,
                                  const TraceOptions& options = {});

// The same of a language model that reads a text's ids: the trace has no source, and decoder maps alone. `name` is what
// an error calls the text. Throws heed::Error for a text without tokens, and as trace_pair does.
AttentionTrace trace_text(const ModelFolder& folder, std::span<const int> ids, const TraceOptions& options = {},
                          std::string_view name = "trace_text");

// The same of an encoder that reads a text, or two: the trace has a source, and encoder maps alone. Throws heed::Error
// as TextReader::encode does.
AttentionTrace trace_encoded(const ModelFolder& folder, const std::string& text,
                             const std::optional<std::string>& second = {}, const TraceParts& parts = {});

// How the search for the translation of a source grew, with so many of the likeliest tokens at each step. The best path
// is what a Translator makes of the source. Throws heed::Error as beam_search does, and for a source of no tokens or of
// more than the model can hold, unless it is cropped.
std::vector<AttentionTrace::Step> trace_search(const ModelFolder& folder, const std::string& source_text,
                                               const BeamOptions& beam, bool crop = false, Index likeliest = 8);

// Whether a model is an encoder alone, for trace_encoded.
bool is_encoder(const ModelFolder& folder);

}  // namespace heed
