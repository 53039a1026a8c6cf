// Configurations of Transformers that tests share, of the vocabulary of small_batch (heed/models/small_batch.h).
#pragma once

#include <map>
#include <string>

#include "heed/models/transformer_config.h"

namespace heed::testing {

inline TransformerConfig small_config() {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 11;
  config.width = 8, config.heads = 2, config.ffn_width = 10;
  config.encoder_layers = 1, config.decoder_layers = 2;
  config.max_length = 12;
  config.activation = Activation::gelu;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.1;
  return config;
}

// Kinds of attention, with numbers that leave keys out in sentences as short as small_batch's, and other choices.
inline std::map<std::string, TransformerConfig> variants() {
  std::map<std::string, TransformerConfig> all;
  const auto add = [&](const std::string& name, auto change) {
    TransformerConfig config = small_config();
    config.decoder_layers = 1;
    change(config);
    all.emplace(name, config);
  };
  for (const char* attention :
       {"window(1)", "strided(1)", "fixed(block=2)", "bigbird(block=2, global=0, random=0)", "elu", "cosine + alibi",
        "squared_distance + relative(buckets=4) + sigmoid", "additive + rotary + sinks", "soft_cap(3) + entmax15"}) {
    add(attention, [&](TransformerConfig& c) { c.attention = AttentionChoice(attention); });
  }
  add("sparse alignments", [](TransformerConfig& c) { c.cross_attention = AttentionChoice("cosine + sparsemax"); });
  add("no positions", [](TransformerConfig& c) { c.positions = PositionKind::none; });
  add("gated, rms, both", [](TransformerConfig& c) {
    c.gated = true, c.activation = Activation::silu, c.norm = NormKind::rms, c.norm_place = NormPlace::both;
  });
  add("projections apart, narrow heads", [](TransformerConfig& c) {
    c.separate_projections = true, c.head_width = 2, c.attention_out_bias = c.ffn_bias = false;
  });
  add("norms of queries and keys", [](TransformerConfig& c) {
    c.query_key_norm = c.separate_projections = true, c.kv_heads = 1, c.attention_bias = false;
    c.attention = AttentionChoice("rotary_linear(4)");
    c.norm_epsilon = 1e-3;
  });
  add("root mean squares of queries and keys", [](TransformerConfig& c) {
    c.query_key_norm = true, c.norm = NormKind::rms;
    c.attention = AttentionChoice("rotary");
  });
  add("alternating", [](TransformerConfig& c) {
    c.decoder_layers = 2, c.alternate = true;
    c.alternate_attention = AttentionChoice("dot(0.3) + window(1)");
  });
  add("embeddings normed and scaled, logits scaled with a bias", [](TransformerConfig& c) {
    c.embedding_norm = c.output_bias = true, c.embedding_scale = 1.5, c.logit_scale = 0.3;
  });
  add("normed at the end again",
      [](TransformerConfig& c) { c.norm_place = NormPlace::post, c.final_norm = FinalNorm::always; });
  add("residuals normed too", [](TransformerConfig& c) { c.norm_place = NormPlace::residual; });
  add("scores by layer", [](TransformerConfig& c) { c.decoder_layers = 2, c.scores_by_layer = true; });
  add("not normed at the end", [](TransformerConfig& c) { c.final_norm = FinalNorm::never; });
  add("the encoder alone normed at the end", [](TransformerConfig& c) { c.final_norm = FinalNorm::encoder; });
  add("begun with zeros", [](TransformerConfig& c) { c.zero_start = c.embedding_norm = true; });
  add("grouped", [](TransformerConfig& c) { c.heads = 4, c.kv_heads = 2; });
  add("multi-query", [](TransformerConfig& c) { c.kv_heads = 1; });
  return all;
}

}  // namespace heed::testing
