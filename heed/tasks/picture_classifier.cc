#include "heed/tasks/picture_classifier.h"

#include <fmt/format.h>

#include "heed/base/check.h"
#include "heed/observe/recorder.h"

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

std::vector<PatchMap> PictureClassifier::attention(const Image& image, const PictureMapChoice& choice) const {
  const TransformerConfig& config = opened_.family.config;
  const SignalOptions& signal = config.signal;
  const Index layer = choice.layer.value_or(config.encoder_layers - 1);
  HEED_CHECK(layer >= 0 && layer < config.encoder_layers, "there is no layer {}: the model has {}, counted from 0",
             layer, config.encoder_layers);
  const std::vector<Index> heads = choice.heads.of(config.heads);
  const std::string path = fmt::format("encoder.layers.{}.self_attn", layer);
  AttentionRecorder recorder({.row = 0, .source_length = signal.positions(), .target_length = 0},
                             [&](const AttentionSite& site) { return site.path == path; });
  Workspace workspace;
  opened_.model->encode(Context::inference(workspace, &recorder), {.signal = pixel_values(image, pixels_, signal)});
  const AttentionTrace::Map map = recorder.take_maps().front();

  const PatchMap none{{},
                      signal.height / signal.patch,
                      signal.width / signal.patch,
                      std::vector<double>(static_cast<std::size_t>(signal.positions() - 1))};
  const auto add = [&](PatchMap& to, Index head, double share) {
    for (std::size_t i = 0; i < to.weights.size(); ++i) {
      to.weights[i] += share * double{map.weight(head, 0, static_cast<Index>(i) + 1)};
    }
  };
  if (choice.heads.mean) {
    PatchMap mean = none;
    mean.title = heads.size() == 1 ? fmt::format("layer {} · head {}", layer, heads.front())
                                   : fmt::format("layer {} · mean of {} heads", layer, heads.size());
    for (Index head : heads) add(mean, head, 1 / static_cast<double>(heads.size()));
    return {mean};
  }
  std::vector<PatchMap> maps;
  for (Index head : heads) {
    PatchMap one = none;
    one.title = fmt::format("layer {} · head {}", layer, head);
    add(one, head, 1);
    maps.push_back(std::move(one));
  }
  return maps;
}

}  // namespace heed
