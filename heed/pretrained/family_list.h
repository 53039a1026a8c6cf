// Each family's description, for the table in family.cc alone.
#pragma once

#include "heed/pretrained/family.h"

namespace heed {

// max_length of a model whose positions end nowhere.
inline constexpr Index kUnboundedLength = 1 << 16;

// TensorRule::otherwise of a table of embeddings: the output's name, where the two are one tensor.
inline std::vector<std::string> tied_output(const TransformerConfig& config, const std::string& output) {
  return config.tie_output ? std::vector{output} : std::vector<std::string>();
}

FamilyModel describe_albert(const Json& config);
FamilyModel describe_bart(const Json& config);
FamilyModel describe_bert(const Json& config);
FamilyModel describe_bloom(const Json& config);
FamilyModel describe_deit(const Json& config);
FamilyModel describe_distilbert(const Json& config);
FamilyModel describe_electra(const Json& config);
FamilyModel describe_gemma(const Json& config);
FamilyModel describe_gemma2(const Json& config);
FamilyModel describe_gemma3(const Json& config);
FamilyModel describe_gpt2(const Json& config);
FamilyModel describe_gpt_neo(const Json& config);
FamilyModel describe_gpt_neox(const Json& config);
FamilyModel describe_gptj(const Json& config);
FamilyModel describe_llama(const Json& config);
FamilyModel describe_m2m_100(const Json& config);
FamilyModel describe_marian(const Json& config);
FamilyModel describe_mbart(const Json& config);
FamilyModel describe_mistral(const Json& config);
FamilyModel describe_mpnet(const Json& config);
FamilyModel describe_mt5(const Json& config);
FamilyModel describe_opt(const Json& config);
FamilyModel describe_pegasus(const Json& config);
FamilyModel describe_phi(const Json& config);
FamilyModel describe_phi3(const Json& config);
FamilyModel describe_pytorch_translator(const Json& config);
FamilyModel describe_qwen2(const Json& config);
FamilyModel describe_qwen3(const Json& config);
FamilyModel describe_roberta(const Json& config);
FamilyModel describe_t5(const Json& config);
FamilyModel describe_umt5(const Json& config);
FamilyModel describe_vit(const Json& config);
FamilyModel describe_whisper(const Json& config);

}  // namespace heed
