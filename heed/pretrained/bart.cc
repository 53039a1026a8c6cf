// BART (Lewis et al. 2020) and Marian (Junczys-Dowmunt et al. 2018): BartForConditionalGeneration, MarianMTModel.
#include <fmt/format.h>

#include <cmath>

#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {
namespace {

// Encoder and decoder are of one build in heed; theirs could differ.
Index shared_extent(const Json& config, std::string_view of_encoder, std::string_view of_decoder) {
  const Index extent_of_encoder = extent(config, {of_encoder});
  const Json other = config[of_decoder];
  if (other.integer() != extent_of_encoder) other.refuse(fmt::format("must be {}'s {}", of_encoder, extent_of_encoder));
  return extent_of_encoder;
}

FamilyModel describe(const Json& config) {
  FamilyModel model;
  TransformerConfig& c = model.config;
  c.source_vocabulary = c.target_vocabulary = extent(config, {"vocab_size"});
  c.width = extent(config, {"d_model"});
  c.heads = shared_extent(config, "encoder_attention_heads", "decoder_attention_heads");
  c.ffn_width = shared_extent(config, "encoder_ffn_dim", "decoder_ffn_dim");
  c.encoder_layers = extent(config, {"encoder_layers"});
  c.decoder_layers = extent(config, {"decoder_layers"});
  c.activation = activation_of(find_field(config, {"activation_function"}).value_or("gelu"));
  c.norm_place = flag_or(config, {"normalize_before"}, false) ? NormPlace::pre : NormPlace::post;
  c.positions = PositionKind::learned;
  c.max_length = extent(config, {"max_position_embeddings"});
  c.embedding_scale = flag_or(config, {"scale_embedding"}, false) ? 0 : 1;
  c.separate_projections = true;
  c.tie_output = flag_or(config, {"tie_word_embeddings"}, true);
  c.output_bias = true;
  const auto attention = [&](const std::string& own, const std::string& theirs) {
    TensorRule bias{own + ".in_proj_bias", {}};
    for (const char* part : {"q", "k", "v"}) {
      model.rules.push_back(
          {fmt::format("{}.{}_proj_weight", own, part), {fmt::format("{}.{}_proj.weight", theirs, part)}});
      bias.tensors.push_back(fmt::format("{}.{}_proj.bias", theirs, part));
    }
    model.rules.push_back(bias);
    model.rules.push_back({own + ".out_proj", {theirs + ".out_proj"}});
  };
  model.rules = {{"embedding", {"model.shared"}}};
  for (const std::string side : {"encoder", "decoder"}) {
    const bool decoder = side == "decoder";
    const std::string own = side + ".layers.*", theirs = "model." + side + ".layers.*";
    attention(own + ".self_attn", theirs + ".self_attn");
    if (decoder) attention(own + ".multihead_attn", theirs + ".encoder_attn");
    model.rules.push_back({own + ".linear1", {theirs + ".fc1"}});
    model.rules.push_back({own + ".linear2", {theirs + ".fc2"}});
    model.rules.push_back({own + ".norm1", {theirs + ".self_attn_layer_norm"}});
    if (decoder) model.rules.push_back({own + ".norm2", {theirs + ".encoder_attn_layer_norm"}});
    model.rules.push_back({own + (decoder ? ".norm3" : ".norm2"), {theirs + ".final_layer_norm"}});
    model.rules.push_back({side + ".norm", {"model." + side + ".layer_norm"}});
    model.parts.push_back(theirs);
  }
  model.rules.push_back({"generator.weight", {"lm_head.weight"}});
  model.rules.push_back({"generator.bias", {"final_logits_bias"}});
  model.begin = id_or(config, {"decoder_start_token_id"}, 2);
  model.pad = id_or(config, {"pad_token_id"}, -1);
  model.ends = end_ids(config);
  return model;
}

// Sines in the first half of a row and cosines in the second.
Tensor halves_of_sinusoids(Index length, Index width) {
  const Tensor table = Tensor::empty(DType::f32, {length, width});
  const Index half = width / 2;
  for (Index i = 0; i < width; ++i) {
    const bool sine = i < half;
    const double rate = std::pow(10000.0, -2.0 * static_cast<double>(sine ? i : i - half) / static_cast<double>(width));
    for (Index p = 0; p < length; ++p) {
      const double angle = static_cast<double>(p) * rate;
      table.at<float>({p, i}) = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}  // namespace

FamilyModel describe_bart(const Json& config) {
  FamilyModel model = describe(config);
  model.config.embedding_norm = flag_or(config, {"normalize_embedding"}, true);
  for (const std::string side : {"source", "target"}) {
    const std::string theirs = side == "source" ? "model.encoder" : "model.decoder";
    // Its positions begin behind two rows that were kept for padding.
    model.rules.push_back({side + "_positions.weight", {theirs + ".embed_positions.weight"}, {}, /*first_row=*/2});
    model.rules.push_back({side + "_norm", {theirs + ".layernorm_embedding"}});
  }
  return model;
}

FamilyModel describe_marian(const Json& config) {
  FamilyModel model = describe(config);
  const TransformerConfig& c = model.config;
  if (c.width % 2 != 0) config["d_model"].refuse("must be even");
  // Files may leave the table out, which is computed.
  for (const char* side : {"source", "target"}) {
    model.rules.push_back(
        {fmt::format("{}_positions.weight", side), {}, {}, 0, [length = c.max_length, width = c.width] {
           return halves_of_sinusoids(length, width);
         }});
  }
  return model;
}

}  // namespace heed
