#include "heed/tasks/picture_classifier.h"

#include <fmt/format.h>

#include "heed/base/check.h"
#include "heed/tasks/purpose.h"
#include "heed/tasks/trace_signal.h"

namespace heed {
namespace {

// What alone reads a signal.
const Transformer& transformer_of(const BareModel& opened) { return dynamic_cast<const Transformer&>(*opened.model); }

}  // namespace

PictureClassifier::PictureClassifier(const std::filesystem::path& folder)
    : opened_(load_bare_model(folder)), pixels_(read_pixel_options(folder)) {
  const TransformerConfig& config = opened_.config.transformer;
  check_purpose(config.signal.kind == SignalKind::picture && !config.has_decoder(), opened_,
                "tells no picture's class");
}

bool PictureClassifier::has_classes() const {
  return opened_.config.transformer.encoder_heads.classifier == ClassifierKind::sequence;
}

const std::vector<std::string>& PictureClassifier::labels() const {
  check_purpose(has_classes(), opened_, "tells no picture's class");
  return opened_.config.transformer.encoder_heads.labels;
}

Classified PictureClassifier::classify(const Image& image) const {
  labels();  // or an error
  const Transformer& model = transformer_of(opened_);
  const TransformerConfig& config = model.config();
  Workspace workspace;
  const Context context = Context::inference(workspace);
  const Var hidden = model.encode(context, {.signal = pixel_values(image, pixels_, config.signal)});
  const Var logits = model.heads().class_logits(context, hidden);
  return class_probabilities(config.encoder_heads, logits.value()).front();
}

AttentionTrace PictureClassifier::attention(const Image& image) const {
  const SignalOptions& signal = opened_.config.transformer.signal;
  return trace_signal(transformer_of(opened_), pixel_values(image, pixels_, signal), picture_side(signal));
}

AttentionTrace PictureClassifier::trace(const Image& image, const TraceParts& parts) const {
  const Transformer& model = transformer_of(opened_);
  const TransformerConfig& config = model.config();
  const TraceSide side = picture_side(config.signal);
  AttentionRecorder recorder({.row = 0, .source_length = side.size(), .target_length = 0}, parts);
  Workspace workspace;
  const Var hidden =
      model.encode(Context::inference(workspace, &recorder), {.signal = pixel_values(image, pixels_, config.signal)});
  AttentionTrace trace = take_trace(recorder, side);
  trace.image = picture_uri(image);
  if (!has_classes()) return trace;
  const Var logits = model.heads().class_logits(Context::inference(workspace), hidden);
  const Classified classified = class_probabilities(config.encoder_heads, logits.value()).front();
  const auto likeliest = static_cast<std::size_t>(classified.likeliest());
  trace.source.text = fmt::format("{} · {:.0f} %", labels()[likeliest], 100 * classified.probabilities[likeliest]);
  return trace;
}

}  // namespace heed
