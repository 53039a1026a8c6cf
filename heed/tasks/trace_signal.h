// Traces of models that see or hear: patches of a picture and frames of sound have places instead of words.
//
//   AttentionTrace trace = trace_signal(model, pixels, picture_side(model.config().signal), {.scores = true});
//   trace.image = picture_uri(image);
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "heed/image/image.h"
#include "heed/models/transformer.h"
#include "heed/observe/recorder.h"
#include "heed/observe/trace.h"
#include "heed/text/vocabulary.h"

namespace heed {

// The class token, the distilled one where there is one, and the patches row by row, called "row,column" from 0.
TraceSide picture_side(const SignalOptions& signal);
// `frames` positions of an encoder, `seconds` each, called by when they begin: "0.04".
TraceSide sound_side(Index frames, double seconds);

// The picture as text that a page can show: a PNG of at most 448 pixels a side.
std::string picture_uri(const Image& image);

// A trace of what was recorded, with this source; the decoder's sides are the caller's.
AttentionTrace take_trace(AttentionRecorder& recorder, TraceSide source);

// What the encoder attends to in the signal's first source.size() positions, [1, ...].
AttentionTrace trace_signal(const Transformer& model, const Tensor& signal, TraceSide source,
                            const TraceParts& parts = {});
// With a decoder that reads all but the last of `ids`, and answers all but the first.
AttentionTrace trace_signal(const SequenceModel& model, const Tensor& signal, TraceSide source,
                            const Vocabulary& vocabulary, std::span<const std::int32_t> ids, const std::string& text,
                            const TraceParts& parts = {});

}  // namespace heed
