// An encoder and a decoder of torch.nn.TransformerEncoder and torch.nn.TransformerDecoder, each with its embedding, and
// the decoder with its output layer.
#include "heed/io/fields.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_pytorch_translator(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"d_model"});
  c.heads = extent(config, {"nhead"});
  c.ffn_width = extent(config, {"dim_feedforward"});
  c.encoder_layers = layer_count(config, {"num_encoder_layers"});
  c.decoder_layers = layer_count(config, {"num_decoder_layers"});
  c.activation = activation_of(find_field(config, {"activation"}).value_or("relu"));
  c.norm_place = flag_or(config, {"norm_first"}, false) ? NormPlace::pre : NormPlace::post;
  c.norm_epsilon = number_or(config, {"layer_norm_eps"}, 1e-5);
  const Json positions = find_field(config, {"positions"}).value_or("none");
  if (!enum_from_name(positions.string(), c.positions)) positions.refuse("must be sinusoidal, learned or none");
  c.max_length = extent_or(config, {"max_length"}, c.positions == PositionKind::none ? kUnboundedLength : 512);
  c.causal = flag_or(config, {"causal"}, true);
  c.embedding_scale = number_or(config, {"embedding_scale"}, 1);
  c.share_embeddings = c.tie_output = false;
  c.output_bias = true;
  model.rules = {
      {"source_embedding", {"encoder.embedding"}},
      {"target_embedding", {"decoder.embedding"}},
      {"source_positions", {"encoder.positions"}},
      {"target_positions", {"decoder.positions"}},
      {"encoder", {"encoder.transformer_encoder"}},
      {"decoder", {"decoder.transformer_decoder"}},
      {"generator", {"decoder.linear"}},
  };
  model.parts = {"encoder", "decoder"};
  model.may_lack_final_norms = true;
  model.ignored = {".pe"};  // a table of sinusoids
  model.begin = id_or(config, {"decoder_start_token_id", "bos_token_id"}, 0);
  model.ends = end_ids(config);
  return model;
}

}  // namespace heed
