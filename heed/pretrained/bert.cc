// BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019), of which CamemBERT and XLM-RoBERTa are, and ELECTRA (Clark et
// al. 2020), whose embeddings may be narrower than the model.
#include "heed/pretrained/bert_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {
namespace {

// What both have; `name` is what their files call what is below the heads: "bert".
FamilyModel describe_encoder(const Json& config, const std::string& name) {
  refuse_unless(config, "is_decoder", false);
  refuse_unless(config, "add_cross_attention", false);
  const std::optional<Json> places = find_field(config, {"position_embedding_type"});
  if (places && places->string() != "absolute") places->refuse("must be absolute, which heed has of these models");
  FamilyModel model;
  model.config = bert_encoder(config, "gelu");
  add_bert_embeddings(config, model.config);
  model.prefix = name + ".";
  const std::string embeddings = name + ".embeddings.", layer = name + ".encoder.layer.*.";
  model.rules = {
      {"embedding", {embeddings + "word_embeddings"}},
      {"source_positions", {embeddings + "position_embeddings"}},
      {"token_types", {embeddings + "token_type_embeddings"}},
      {"source_norm", {embeddings + "LayerNorm"}},
      {"encoder.layers.*.self_attn.q_proj_weight", {layer + "attention.self.query.weight"}},
      {"encoder.layers.*.self_attn.k_proj_weight", {layer + "attention.self.key.weight"}},
      {"encoder.layers.*.self_attn.v_proj_weight", {layer + "attention.self.value.weight"}},
      {"encoder.layers.*.self_attn.in_proj_bias",
       {layer + "attention.self.query.bias", layer + "attention.self.key.bias", layer + "attention.self.value.bias"}},
      {"encoder.layers.*.self_attn.out_proj", {layer + "attention.output.dense"}},
      {"encoder.layers.*.norm1", {layer + "attention.output.LayerNorm"}},
      {"encoder.layers.*.linear1", {layer + "intermediate.dense"}},
      {"encoder.layers.*.linear2", {layer + "output.dense"}},
      {"encoder.layers.*.norm2", {layer + "output.LayerNorm"}},
  };
  model.parts = {name + ".encoder.layer.*"};
  model.pad = id_or(config, {"pad_token_id"}, -1);
  model.heads = encoder_head_names(config);
  model.heads->pooler = name + ".pooler.dense";
  model.heads->choices = model.heads->tokens = "classifier";
  model.heads->spans = "qa_outputs";
  return model;
}

}  // namespace

FamilyModel describe_bert(const Json& config) {
  FamilyModel model = describe_encoder(with_bert_defaults(config, 30522), "bert");
  EncoderHeadNames& heads = *model.heads;
  heads.sequences = "classifier";
  heads.next_sentence = "cls.seq_relationship";
  heads.masked_dense = "cls.predictions.transform.dense";
  heads.masked_norm = "cls.predictions.transform.LayerNorm";
  heads.masked_output = "cls.predictions.decoder";
  heads.masked_bias = {"cls.predictions.bias", "cls.predictions.decoder.bias"};
  return model;
}

FamilyModel describe_roberta(const Json& given) {
  const bool is_plain = given["model_type"].string() == "roberta";
  const Json config = with_bert_defaults(given, is_plain ? 50265 : 30522);
  FamilyModel model = describe_encoder(config, "roberta");
  count_behind_padding(config, id_or(config, {"pad_token_id"}, 1), model);
  name_roberta_heads(model);
  return model;
}

FamilyModel describe_electra(const Json& given) {
  const Json config = with_bert_defaults(
      with_class_defaults(given, {{"hidden_size", 256}, {"num_attention_heads", 4}, {"intermediate_size", 1024}}),
      30522);
  FamilyModel model = describe_encoder(config, "electra");
  TransformerConfig& c = model.config;
  const Index width = extent_or(config, {"embedding_size"}, 128);
  if (width != c.width) c.factorised_embedding = width;
  model.rules.push_back({"source_projection", {"electra.embeddings_project"}});
  EncoderHeadNames& heads = *model.heads;
  heads.pooler = "";
  heads.sequence_pooler = "classifier.dense";
  heads.sequence_pooler_kind = PoolerKind::gelu;
  heads.sequences = "classifier.out_proj";
  heads.choice_pooler = "sequence_summary.summary";
  heads.choice_pooler_kind = PoolerKind::gelu;
  heads.masked_dense = "generator_predictions.dense";
  heads.masked_norm = "generator_predictions.LayerNorm";
  heads.masked_output = "generator_lm_head";
  heads.masked_bias = {"generator_lm_head.bias"};
  heads.masked_gelu = true;
  return model;
}

}  // namespace heed
