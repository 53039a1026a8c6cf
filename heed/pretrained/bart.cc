// BART (Lewis et al. 2020), mBART (Liu et al. 2020), which normalises before its layers, Marian (Junczys-Dowmunt et al.
// 2018) and, with mBART's norms and sinusoids, Pegasus (Zhang et al. 2020) and M2M-100 (Fan et al. 2021), which NLLB is
// too: MarianMTModel, ...ForConditionalGeneration.
#include <fmt/format.h>

#include <cmath>

#include "heed/pretrained/bart_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {
namespace {

FamilyModel describe_encoder_decoder(const Json& config) {
  FamilyModel model = describe_bart_layers(config, KeyBias::there);
  TransformerConfig& c = model.config;
  c.norm_place = flag_or(config, {"normalize_before"}, false) ? NormPlace::pre : NormPlace::post;
  c.max_length = extent(config, {"max_position_embeddings"});
  c.output_bias = true;
  model.prefix = "model.";
  std::vector<std::string> tables = tied_output(c, "lm_head");
  tables.insert(tables.begin(), {"model.encoder.embed_tokens", "model.decoder.embed_tokens"});
  model.rules.push_back({.parameter = "embedding", .tensors = {"model.shared"}, .otherwise = std::move(tables)});
  model.rules.push_back({"generator.weight", {"lm_head.weight"}});
  model.rules.push_back({"generator.bias", {"final_logits_bias"}});
  model.heads = translator_head_names(config);
  if (model.begin < 0) model.begin = 2;
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

// The same with rates that reach 1/10000 in the last pair, at the places first, first + 1, ...
Tensor sinusoids_to_the_last(Index first, Index length, Index width) {
  const Tensor table = Tensor::empty(DType::f32, {length, width});
  const Index half = width / 2;
  for (Index i = 0; i < width; ++i) {
    const double rate = std::pow(10000.0, -static_cast<double>(i % half) / static_cast<double>(half - 1));
    for (Index p = 0; p < length; ++p) {
      const double angle = static_cast<double>(first + p) * rate;
      table.at<float>({p, i}) = static_cast<float>(i < half ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

// Files may leave the tables out, which are computed.
void add_sinusoids(const Json& config, FamilyModel& model) {
  const TransformerConfig& c = model.config;
  if (c.width % 2 != 0) config["d_model"].refuse("must be even");
  for (const char* side : {"source", "target"}) {
    model.rules.push_back(
        {fmt::format("{}_positions.weight", side), {}, {}, 0, [length = c.max_length, width = c.width] {
           return halves_of_sinusoids(length, width);
         }});
  }
}

}  // namespace

FamilyModel describe_bart(const Json& config) {
  FamilyModel model = describe_encoder_decoder(config);
  model.config.embedding_norm = flag_or(config, {"normalize_embedding"}, true);
  // As the first files of summaries say it.
  if (flag_or(config, {"force_bos_token_to_be_generated"}, false)) model.first = id_or(config, {"bos_token_id"}, 0);
  for (const std::string side : {"source", "target"}) {
    const std::string theirs = side == "source" ? "model.encoder" : "model.decoder";
    // Its positions begin behind two rows that were kept for padding.
    model.rules.push_back({side + "_positions.weight", {theirs + ".embed_positions.weight"}, {}, /*first_row=*/2});
    model.rules.push_back({side + "_norm", {theirs + ".layernorm_embedding"}});
  }
  return model;
}

FamilyModel describe_mbart(const Json& config) {
  FamilyModel model = describe_bart(config);
  model.config.norm_place = NormPlace::pre;
  model.config.embedding_norm = true;
  return model;
}

FamilyModel describe_marian(const Json& config) {
  FamilyModel model = describe_encoder_decoder(config);
  if (!flag_or(config, {"share_encoder_decoder_embeddings"}, true)) {
    TransformerConfig& c = model.config;
    c.share_embeddings = false;
    c.target_vocabulary = extent_or(config, {"decoder_vocab_size"}, c.source_vocabulary);
    model.rules.push_back({"source_embedding", {"model.encoder.embed_tokens"}});
    model.rules.push_back({.parameter = "target_embedding",
                           .tensors = {"model.decoder.embed_tokens"},
                           .otherwise = tied_output(c, "lm_head")});
  }
  // Its row is of zeros, which may be more than what a token gets.
  if (model.pad >= 0) model.never = {model.pad};
  add_sinusoids(config, model);
  return model;
}

FamilyModel describe_m2m_100(const Json& config) {
  FamilyModel model = describe_encoder_decoder(config);
  TransformerConfig& c = model.config;
  c.norm_place = NormPlace::pre;
  if (c.width % 2 != 0 || c.width < 4) config["d_model"].refuse("must be even, and 4 or more");
  // Its positions begin behind the padding's id.
  const Index first = id_or(config, {"pad_token_id"}, 1) + 1;
  for (const char* side : {"source", "target"}) {
    model.rules.push_back(
        {fmt::format("{}_positions.weight", side), {}, {}, 0, [first, length = c.max_length, width = c.width] {
           return sinusoids_to_the_last(first, length, width);
         }});
  }
  return model;
}

FamilyModel describe_pegasus(const Json& config) {
  FamilyModel model = describe_encoder_decoder(config);
  model.config.norm_place = NormPlace::pre;
  add_sinusoids(config, model);
  return model;
}

}  // namespace heed
