#include "heed/tasks/picture_classifier.h"

#include <fmt/format.h>

#include "heed/base/check.h"
#include "heed/tasks/trace_signal.h"

namespace heed {

PictureClassifier::PictureClassifier(const std::filesystem::path& folder)
    : opened_(open_pretrained(folder)), pixels_(read_pixel_options(folder)) {
  HEED_CHECK(opened_.family.config.signal.kind == SignalKind::picture, "{}: is not a model that sees pictures",
             folder.string());
}

bool PictureClassifier::has_classes() const {
  return opened_.family.config.encoder_heads.classifier == ClassifierKind::sequence;
}

const std::vector<std::string>& PictureClassifier::labels() const {
  HEED_CHECK(has_classes(), "classify: the model tells the class of nothing");
  return opened_.family.config.encoder_heads.labels;
}

Classified PictureClassifier::classify(const Image& image) const {
  labels();  // or an error
  const TransformerConfig& config = opened_.family.config;
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Var hidden = opened_.model->encode(context, {.signal = pixel_values(image, pixels_, config.signal)});
  const Var logits = opened_.model->heads().class_logits(context, hidden);
  return class_probabilities(config.encoder_heads, logits.value()).front();
}

AttentionTrace PictureClassifier::trace(const Image& image, const TraceParts& parts) const {
  const SignalOptions& signal = opened_.family.config.signal;
  AttentionTrace trace =
      trace_signal(*opened_.model, pixel_values(image, pixels_, signal), picture_side(signal), parts);
  trace.image = picture_uri(image);
  if (!has_classes()) return trace;
  const Classified classified = classify(image);
  const auto likeliest = static_cast<std::size_t>(classified.likeliest());
  trace.source.text = fmt::format("{} · {:.0f} %", labels()[likeliest], 100 * classified.probabilities[likeliest]);
  return trace;
}

}  // namespace heed
