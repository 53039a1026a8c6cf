// BART (Lewis et al. 2020), mBART (Liu et al. 2020), which normalises before its layers, Marian (Junczys-Dowmunt et al.
// 2018) and, with mBART's norms and sinusoids, Pegasus (Zhang et al. 2020) and M2M-100 (Fan et al. 2021), which NLLB is
// too: MarianMTModel, ...ForConditionalGeneration.
#include <fmt/format.h>

#include "heed/pretrained/bart_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"
#include "heed/pretrained/sinusoids.h"

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

// Files may leave the tables out, which are computed. 1/10000 is the rate of the last pair, or would be that of one
// more.
void add_sinusoids(const Json& config, FamilyModel& model, Index first, bool reaches_last) {
  const TransformerConfig& c = model.config;
  if (c.width % 2 != 0 || c.width < 4) config["d_model"].refuse("must be even, and 4 or more");
  if (c.max_length > kUnboundedLength) {
    config["max_position_embeddings"].refuse(fmt::format("must be at most {}", kUnboundedLength));
  }
  const Index steps = c.width / 2 - (reaches_last ? 1 : 0);
  for (const char* side : {"source", "target"}) {
    model.rules.push_back({.parameter = fmt::format("{}_positions.weight", side),
                           .tensors = {},
                           .computed = [first, steps, length = c.max_length, width = c.width] {
                             return sines_and_cosines(first, length, width, steps);
                           }});
  }
}

// Of classes whose tables are parameters, which a file may have changed.
void take_stored_sinusoids(FamilyModel& model) {
  for (TensorRule& rule : model.rules) {
    if (rule.parameter == "source_positions.weight") rule.tensors = {"model.encoder.embed_positions.weight"};
    if (rule.parameter == "target_positions.weight") rule.tensors = {"model.decoder.embed_positions.weight"};
  }
}

}  // namespace

FamilyModel describe_bart(const Json& config) {
  FamilyModel model = describe_encoder_decoder(config);
  model.last = 2;  // as the class has it
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
  // Its decoder would read a text behind the token of the text's language.
  model.heads->sequences = model.heads->spans = "";
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
  model.last = 0;
  // Its row is of zeros, which may be more than what a token gets.
  if (model.pad >= 0) model.never = {model.pad};
  add_sinusoids(config, model, /*first=*/0, /*reaches_last=*/false);
  take_stored_sinusoids(model);
  return model;
}

FamilyModel describe_m2m_100(const Json& config) {
  Json complete = config;
  if (!config.has("activation_function")) complete.set("activation_function", "relu");
  if (!config.has("scale_embedding")) complete.set("scale_embedding", true);
  FamilyModel model = describe_encoder_decoder(complete);
  model.config.norm_place = NormPlace::pre;
  // Its positions begin behind the padding's id.
  add_sinusoids(config, model, /*first=*/id_or(config, {"pad_token_id"}, 1) + 1, /*reaches_last=*/true);
  return model;
}

FamilyModel describe_pegasus(const Json& config) {
  FamilyModel model = describe_encoder_decoder(config);
  model.config.norm_place = NormPlace::pre;
  model.begin = id_or(config, {"decoder_start_token_id"}, 0);
  model.last = 1;
  add_sinusoids(config, model, /*first=*/0, /*reaches_last=*/false);
  take_stored_sinusoids(model);
  return model;
}

}  // namespace heed
