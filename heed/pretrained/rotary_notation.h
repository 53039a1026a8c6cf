// The rotary positions that a Hugging Face config.json describes, as a choice of attention.
//
//   config.attention = rotary_attention(json, head_width);   // "rotary_llama3(base=500000, width=128)"
#pragma once

#include "heed/io/json.h"
#include "heed/layers/attention_choice.h"

namespace heed {

// Of the first `width` features of a head: rope_theta (or rotary_emb_base) and rope_scaling, or rope_parameters, which
// newer files have in their place. Throws heed::Error that names the place for a scaling that heed has not.
AttentionChoice rotary_attention(const Json& config, Index width);

}  // namespace heed
