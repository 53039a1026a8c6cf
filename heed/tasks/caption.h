// What a picture shows, in words, and where the model looks at each of them.
//
//   const ModelFolder model = load_model_folder("model");
//   const std::vector<Image> images = {read_image("x.png")};
//   Captioner(model).caption(images, {.beam = 5})[0][0].text;      // "a small red circle left of a blue square"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/image/image.h"
#include "heed/models/signal_options.h"
#include "heed/observe/recorder.h"
#include "heed/observe/trace.h"
#include "heed/tasks/translate.h"

namespace heed {

// Whether the model reads pictures and writes text.
bool captions_pictures(const ModelConfig& config);

// f32 [B, 3, height, width], each picture moved and scaled so that its numbers have the mean 0 and the deviation 1 (a
// picture of one colour: zeros): how light it is as a whole tells nothing. Throws heed::Error for a picture of another
// size than `signal` says.
Tensor picture_values(std::span<const Image* const> images, const SignalOptions& signal);

class Captioner {
 public:
  // Holds on to the model and the codec, which must outlive it.
  Captioner(const SequenceModel& model, const TextCodec& codec, const SignalOptions& signal);
  // Throws heed::Error for a model that does not caption pictures.
  explicit Captioner(const ModelFolder& folder);

  // Captions pictures; result i is of picture i, best first. Which pictures are given together changes no bit.
  std::vector<std::vector<Translation>> caption(std::span<const Image> images, const BeamOptions& options) const;

 private:
  const SequenceModel& model_;
  const TextCodec& codec_;
  SignalOptions signal_;
};

// Runs the model once over the picture and the given target ids (without end token), teacher-forced, and records what
// it attends to; of the picture, the class token and then the patches, row by row. Throws heed::Error for a picture of
// another size and for more ids than the model can hold, and as Captioner does.
AttentionTrace trace_caption(const ModelFolder& folder, const Image& image, std::span<const int> target_ids,
                             const TraceParts& parts = {});

}  // namespace heed
