// ViT (Dosovitskiy et al. 2021) and DeiT (Touvron et al. 2021), which has a token more.
#include <algorithm>

#include "heed/pretrained/bert_layers.h"
#include "heed/pretrained/config_fields.h"
#include "heed/pretrained/family_list.h"

namespace heed {
namespace {

// Pixels of a side, or of two: [height, width].
std::pair<Index, Index> height_and_width(const Json& config, std::string_view name) {
  constexpr Index kMost = 1 << 16;
  const Json given = config[name];
  if (given.kind() == Json::Kind::integer) return {given.integer(1, kMost), given.integer(1, kMost)};
  const std::vector<Index> both = given.integer_list(1, kMost);
  if (both.size() != 2) given.refuse("must be an extent or two");
  return {both[0], both[1]};
}

// What both have; `name` is what their files call what is below the heads: "vit".
FamilyModel describe_patches(const Json& given, const std::string& name) {
  const Json config = with_class_defaults(with_bert_defaults(given, 1), {{"image_size", 224}, {"patch_size", 16}});
  FamilyModel model;
  TransformerConfig& c = model.config;
  c = bert_encoder(config, "gelu");
  c.norm_place = NormPlace::pre;
  const std::optional<Json> pooler = find_field(config, {"pooler_act"});
  if (pooler && pooler->string() != "tanh") pooler->refuse("must be tanh, which heed has of these models");
  c.source_vocabulary = c.target_vocabulary = 1;  // it reads no tokens
  const auto [height, width] = height_and_width(config, "image_size");
  const auto [down, across] = height_and_width(config, "patch_size");
  if (down != across) config["patch_size"].refuse("must be as high as wide");
  if (down > std::min(height, width)) config["patch_size"].refuse("must be at most image_size");
  c.signal = {.kind = SignalKind::picture,
              .channels = extent_or(config, {"num_channels"}, 3),
              .height = height,
              .width = width,
              .patch = down};
  c.max_length = c.signal.positions();
  model.prefix = name + ".";
  const std::string embeddings = name + ".embeddings.", layer = name + ".encoder.layer.*.", own = "encoder.layers.*.";
  const std::string attention = layer + "attention.attention.";
  TensorRule bias{own + "self_attn.in_proj_bias",
                  {attention + "query.bias", attention + "key.bias", attention + "value.bias"}};
  if (!flag_or(config, {"qkv_bias"}, true)) bias.tensors = {"", "", ""};
  model.rules = {
      {"source_patches", {embeddings + "patch_embeddings.projection"}},
      {"source_class", {embeddings + "cls_token"}},
      {"source_positions.weight", {embeddings + "position_embeddings"}},
      {own + "self_attn.q_proj_weight", {attention + "query.weight"}},
      {own + "self_attn.k_proj_weight", {attention + "key.weight"}},
      {own + "self_attn.v_proj_weight", {attention + "value.weight"}},
      bias,
      {own + "self_attn.out_proj", {layer + "attention.output.dense"}},
      {own + "norm1", {layer + "layernorm_before"}},
      {own + "norm2", {layer + "layernorm_after"}},
      {own + "linear1", {layer + "intermediate.dense"}},
      {own + "linear2", {layer + "output.dense"}},
      {"encoder.norm", {name + ".layernorm"}},
  };
  model.parts = {name + ".encoder.layer.*"};
  model.heads = encoder_head_names(config);
  model.heads->pooler = name + ".pooler.dense";
  model.heads->sequences = "classifier";
  model.heads->pools_sequences = false;
  return model;
}

}  // namespace

FamilyModel describe_vit(const Json& config) { return describe_patches(config, "vit"); }

FamilyModel describe_deit(const Json& config) {
  FamilyModel model = describe_patches(config, "deit");
  SignalOptions& signal = model.config.signal;
  signal.distilled = true;
  model.config.max_length = signal.positions();
  model.rules.push_back({"source_distillation", {"deit.embeddings.distillation_token"}});
  model.heads->with_teacher = "cls_classifier";
  model.heads->teacher = "distillation_classifier";
  return model;
}

}  // namespace heed
