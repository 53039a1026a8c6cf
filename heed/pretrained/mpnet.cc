// MPNet (Song et al. 2020), with RoBERTa's positions and T5's distances.
#include <fmt/format.h>

#include "heed/pretrained/bert_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {

FamilyModel describe_mpnet(const Json& given) {
  const Json config = with_bert_defaults(given, 30527);
  FamilyModel model;
  TransformerConfig& c = model.config;
  c = bert_encoder(config, "gelu");
  add_bert_embeddings(config, c);
  c.token_types = 0;
  // In every model, whatever its configuration says; which says how many rows the table has.
  constexpr Index kBuckets = 32, kFarthest = 128, kPadding = 1;
  if (extent_or(config, {"relative_attention_num_buckets"}, kBuckets) < kBuckets) {
    config["relative_attention_num_buckets"].refuse(
        fmt::format("must be at least {}, which distances are sorted into", kBuckets));
  }
  c.attention = AttentionChoice(fmt::format("relative({}, {})", kBuckets, kFarthest));
  model.prefix = "mpnet.";
  const std::string own = "encoder.layers.*.", theirs = "mpnet.encoder.layer.*.",
                    attention = theirs + "attention.attn.";
  model.rules = {
      {"embedding", {"mpnet.embeddings.word_embeddings"}},
      {"source_positions", {"mpnet.embeddings.position_embeddings"}},
      {"source_norm", {"mpnet.embeddings.LayerNorm"}},
      {own + "self_attn.q_proj_weight", {attention + "q.weight"}},
      {own + "self_attn.k_proj_weight", {attention + "k.weight"}},
      {own + "self_attn.v_proj_weight", {attention + "v.weight"}},
      {own + "self_attn.in_proj_bias", {attention + "q.bias", attention + "k.bias", attention + "v.bias"}},
      {own + "self_attn.out_proj", {attention + "o"}},
      {.parameter = own + "self_attn.relative_bias",
       .tensors = {"mpnet.encoder.relative_attention_bias.weight"},
       .rows = kBuckets},
      {own + "norm1", {theirs + "attention.LayerNorm"}},
      {own + "linear1", {theirs + "intermediate.dense"}},
      {own + "linear2", {theirs + "output.dense"}},
      {own + "norm2", {theirs + "output.LayerNorm"}},
  };
  count_behind_padding(config, kPadding, model);
  model.parts = {"mpnet.encoder.layer.*"};
  model.pad = static_cast<std::int32_t>(c.padding_token);
  model.heads = encoder_head_names(config);
  model.heads->pooler = "mpnet.pooler.dense";
  model.heads->choices = model.heads->tokens = "classifier";
  model.heads->spans = "qa_outputs";
  name_roberta_heads(model);
  return model;
}

}  // namespace heed
