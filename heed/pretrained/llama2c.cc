#include "heed/pretrained/llama2c.h"

namespace heed {

FamilyModel describe_llama2c(const Checkpoint& file) {
  const Json& header = file.metadata();
  FamilyModel model = describe_model(Json::object({{"model_type", "llama"},
                                                   {"hidden_size", header["dim"]},
                                                   {"intermediate_size", header["hidden_dim"]},
                                                   {"num_hidden_layers", header["n_layers"]},
                                                   {"num_attention_heads", header["n_heads"]},
                                                   {"num_key_value_heads", header["n_kv_heads"]},
                                                   {"vocab_size", header["vocab_size"]},
                                                   {"max_position_embeddings", header["max_seq_len"]},
                                                   {"tie_word_embeddings", header["shared_classifier"]},
                                                   {"rms_norm_eps", 1e-5},
                                                   {"bos_token_id", 1}}));
  // Its stories are delimited by what begins them.
  model.ends = {2, 1};
  model.config.attention = AttentionChoice("rotary(interleaved=1)");
  model.rules = {
      {"embedding", {"tok_embeddings"}},
      {"decoder.layers.*.self_attn.q_proj_weight", {"layers.*.attention.wq.weight"}},
      {"decoder.layers.*.self_attn.k_proj_weight", {"layers.*.attention.wk.weight"}},
      {"decoder.layers.*.self_attn.v_proj_weight", {"layers.*.attention.wv.weight"}},
      {"decoder.layers.*.self_attn.out_proj", {"layers.*.attention.wo"}},
      {"decoder.layers.*.linear1", {"layers.*.feed_forward.w3"}},
      {"decoder.layers.*.linear_gate", {"layers.*.feed_forward.w1"}},
      {"decoder.layers.*.linear2", {"layers.*.feed_forward.w2"}},
      {"decoder.layers.*.norm1", {"layers.*.attention_norm"}},
      {"decoder.layers.*.norm2", {"layers.*.ffn_norm"}},
      {"decoder.norm", {"norm"}},
      {"generator", {"output"}},
  };
  model.prefix = "";
  model.parts = {"layers.*"};
  model.ignored = {};
  return model;
}

}  // namespace heed
