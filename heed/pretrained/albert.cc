// ALBERT (Lan et al. 2020): embeddings narrower than the model, and layers that share their parameters.
#include <fmt/format.h>

#include "heed/pretrained/bert_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {
namespace {

// The rules of heed's layer `own`, whose tensors others may share.
void add_layer(FamilyModel& model, Index own, const std::string& theirs) {
  const auto rule = [&](const std::string& parameter, const std::vector<std::string>& tensors) {
    TensorRule added{fmt::format("encoder.layers.{}.{}", own, parameter), {}};
    for (const std::string& tensor : tensors) added.tensors.push_back(theirs + tensor);
    model.rules.push_back(std::move(added));
  };
  rule("self_attn.q_proj_weight", {".attention.query.weight"});
  rule("self_attn.k_proj_weight", {".attention.key.weight"});
  rule("self_attn.v_proj_weight", {".attention.value.weight"});
  rule("self_attn.in_proj_bias", {".attention.query.bias", ".attention.key.bias", ".attention.value.bias"});
  rule("self_attn.out_proj", {".attention.dense"});
  rule("norm1", {".attention.LayerNorm"});
  rule("linear1", {".ffn"});
  rule("linear2", {".ffn_output"});
  rule("norm2", {".full_layer_layer_norm"});
}

}  // namespace

FamilyModel describe_albert(const Json& given) {
  const Json config = with_bert_defaults(
      with_class_defaults(given, {{"hidden_size", 4096}, {"num_attention_heads", 64}, {"intermediate_size", 16384}}),
      30000);
  FamilyModel model;
  TransformerConfig& c = model.config;
  c = bert_encoder(config, "gelu_new");
  add_bert_embeddings(config, c);
  c.factorised_embedding = extent_or(config, {"embedding_size"}, 128);
  model.prefix = "albert.";
  model.rules = {
      {"embedding", {"albert.embeddings.word_embeddings"}},
      {"source_positions", {"albert.embeddings.position_embeddings"}},
      {"token_types", {"albert.embeddings.token_type_embeddings"}},
      {"source_norm", {"albert.embeddings.LayerNorm"}},
      {"source_projection", {"albert.encoder.embedding_hidden_mapping_in"}},
  };
  // Layers are in equal groups that share the parameters of one, or of some inner layers that follow one another.
  const Index layers = layer_count(config, {"num_hidden_layers"});
  const Index groups = extent_or(config, {"num_hidden_groups"}, 1);
  const Index inner = extent_or(config, {"inner_group_num"}, 1);
  if (inner > kMostLayers / layers) config["inner_group_num"].refuse("makes more layers than heed has");
  c.encoder_layers = layers * inner;
  for (Index i = 0; i < layers; ++i) {
    const std::string group = fmt::format("albert.encoder.albert_layer_groups.{}", i * groups / layers);
    for (Index j = 0; j < inner; ++j) add_layer(model, i * inner + j, fmt::format("{}.albert_layers.{}", group, j));
    // Of more groups than layers some are read by none.
    if (model.parts.empty() || model.parts.back() != group) model.parts.push_back(group);
  }
  model.pad = id_or(config, {"pad_token_id"}, -1);
  model.heads = encoder_head_names(config);
  EncoderHeadNames& heads = *model.heads;
  heads.pooler = "albert.pooler";
  heads.sequences = heads.choices = heads.tokens = "classifier";
  heads.next_sentence = "sop_classifier.classifier";
  heads.spans = "qa_outputs";
  heads.masked_dense = "predictions.dense";
  heads.masked_norm = "predictions.LayerNorm";
  heads.masked_output = "predictions.decoder";
  heads.masked_bias = {"predictions.bias", "predictions.decoder.bias"};
  return model;
}

}  // namespace heed
