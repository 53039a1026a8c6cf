// Whisper (Radford et al. 2022): WhisperForConditionalGeneration.
#include "heed/pretrained/bart_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_whisper(const Json& config) {
  FamilyModel model = describe_bart_layers(config, KeyBias::none);
  TransformerConfig& c = model.config;
  c.norm_place = NormPlace::pre;
  c.max_length = extent(config, {"max_target_positions"});
  c.signal = {.kind = SignalKind::sound,
              .channels = extent(config, {"num_mel_bins"}),
              .frames = 2 * extent(config, {"max_source_positions"})};
  model.prefix = "model.";
  const std::vector<TensorRule> rules{
      {"source_conv1.weight", {"model.encoder.conv1.weight"}, TensorLayout::taps_last},
      {"source_conv1.bias", {"model.encoder.conv1.bias"}},
      {"source_conv2.weight", {"model.encoder.conv2.weight"}, TensorLayout::taps_last},
      {"source_conv2.bias", {"model.encoder.conv2.bias"}},
      {"source_positions", {"model.encoder.embed_positions"}},
      {"target_positions", {"model.decoder.embed_positions"}},
      {.parameter = "embedding", .tensors = {"model.decoder.embed_tokens"}, .otherwise = tied_output(c, "proj_out")},
      {"generator.weight", {"proj_out.weight"}},
  };
  model.rules.insert(model.rules.end(), rules.begin(), rules.end());
  return model;
}

}  // namespace heed
