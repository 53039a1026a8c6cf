#include "heed/tasks/caption.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "heed/base/check.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/trace_signal.h"

namespace heed {
namespace {

constexpr std::size_t kBatch = 32;  // pictures

const SignalOptions& signal_of(const ModelFolder& folder) {
  check_purpose(captions_pictures(folder.config), folder, "does not tell what pictures show");
  return folder.config.transformer.signal;
}

// Colour by colour; gives where the next picture goes.
float* write_standardised(const Image& image, float* to) {
  std::int64_t sum = 0, squares = 0;
  for (std::uint8_t part : image.pixels) sum += part, squares += std::int64_t{part} * part;
  const auto count = static_cast<double>(image.pixels.size());
  const double mean = static_cast<double>(sum) / count;
  const double deviation = std::sqrt(std::max(0.0, static_cast<double>(squares) / count - mean * mean));
  const double scale = deviation > 0 ? 1 / deviation : 0;
  for (std::size_t colour = 0; colour < 3; ++colour) {
    for (std::size_t i = colour; i < image.pixels.size(); i += 3) {
      *to++ = static_cast<float>((image.pixels[i] - mean) * scale);
    }
  }
  return to;
}

}  // namespace

bool captions_pictures(const ModelConfig& config) {
  return config.kind == ModelKind::transformer && config.transformer.signal.kind == SignalKind::picture &&
         config.transformer.has_decoder();
}

Tensor picture_values(std::span<const Image* const> images, const SignalOptions& signal) {
  const Tensor values = Tensor::empty(DType::f32, {std::ssize(images), signal.channels, signal.height, signal.width});
  float* to = values.data<float>();
  HEED_CHECK(signal.channels == 3, "the model reads pictures of {} channels, and files have the three colours",
             signal.channels);
  for (const Image* image : images) {
    HEED_CHECK(image->height == signal.height && image->width == signal.width,
               "the picture has {} x {} pixels, but the model reads {} x {}", image->width, image->height, signal.width,
               signal.height);
    to = write_standardised(*image, to);
  }
  return values;
}

Captioner::Captioner(const SequenceModel& model, const TextCodec& codec, const SignalOptions& signal)
    : model_(model), codec_(codec), signal_(signal) {}

Captioner::Captioner(const ModelFolder& folder) : Captioner(*folder.model, folder, signal_of(folder)) {}

std::vector<std::vector<Translation>> Captioner::caption(std::span<const Image> images,
                                                         const BeamOptions& options) const {
  std::vector<std::vector<Translation>> captions;
  Workspace workspace;
  for (std::size_t begin = 0; begin < images.size(); begin += kBatch) {
    std::vector<const Image*> batch;
    for (const Image& image : images.subspan(begin, std::min(kBatch, images.size() - begin))) batch.push_back(&image);
    const TokenBatch source{.signal = picture_values(batch, signal_)};
    for (const auto& hypotheses : beam_search(model_, source, options, codec_.special, workspace)) {
      std::vector<Translation>& best = captions.emplace_back();
      for (const Hypothesis& h : hypotheses) {
        best.push_back({codec_.target_vocabulary->decode(h.tokens), h.score, h.tokens, h.token_scores});
      }
    }
  }
  return captions;
}

AttentionTrace trace_caption(const ModelFolder& folder, const Image& image, std::span<const int> target_ids,
                             const TraceParts& parts) {
  const SignalOptions& signal = signal_of(folder);
  const Index most = folder.model->max_length() - 1;
  HEED_CHECK(std::ssize(target_ids) <= most, "the caption has {} tokens, and the model can hold {}", target_ids.size(),
             most);
  std::vector<std::int32_t> ids{folder.special.begin};
  ids.insert(ids.end(), target_ids.begin(), target_ids.end());
  ids.push_back(folder.special.ends.front());
  const Image* const one = &image;
  AttentionTrace trace =
      trace_signal(*folder.model, picture_values({&one, 1}, signal), picture_side(signal), *folder.target_vocabulary,
                   ids, folder.target_vocabulary->decode(target_ids), parts);
  trace.image = picture_uri(image);
  return trace;
}

}  // namespace heed
