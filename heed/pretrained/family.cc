#include "heed/pretrained/family.h"

#include <fmt/format.h>

#include "heed/pretrained/family_list.h"

namespace heed {

std::span<const Family> families() {
  static constexpr Family kFamilies[] = {
      {"albert", describe_albert},
      {"bart", describe_bart},
      {"bert", describe_bert},
      {"bloom", describe_bloom},
      {"camembert", describe_roberta},
      {"deit", describe_deit},
      {"distilbert", describe_distilbert},
      {"electra", describe_electra},
      {"gemma", describe_gemma},
      {"gemma2", describe_gemma2},
      {"gemma3_text", describe_gemma3},
      {"gpt2", describe_gpt2},
      {"gpt_neo", describe_gpt_neo},
      {"gpt_neox", describe_gpt_neox},
      {"gptj", describe_gptj},
      {"llama", describe_llama},
      {"m2m_100", describe_m2m_100},
      {"marian", describe_marian},
      {"mbart", describe_mbart},
      {"mistral", describe_mistral},
      {"mpnet", describe_mpnet},
      {"mt5", describe_mt5},
      {"opt", describe_opt},
      {"pegasus", describe_pegasus},
      {"phi", describe_phi},
      {"phi3", describe_phi3},
      {"pytorch nn.TransformerEncoder + nn.TransformerDecoder", describe_pytorch_translator},
      {"qwen2", describe_qwen2},
      {"qwen3", describe_qwen3},
      {"roberta", describe_roberta},
      {"t5", describe_t5},
      {"umt5", describe_umt5},
      {"vit", describe_vit},
      {"whisper", describe_whisper},
      {"xlm-roberta", describe_roberta},
  };
  return kFamilies;
}

FamilyModel describe_model(const Json& config) {
  const Json type = config["model_type"];
  for (const Family& family : families()) {
    if (type.string() == family.model_type) return family.describe(config);
  }
  std::string known;
  for (const Family& family : families()) known += fmt::format("{}{}", known.empty() ? "" : ", ", family.model_type);
  type.refuse("must be one of " + known);
}

}  // namespace heed
