// What Hugging Face's generate() is told of tokens, in generation_config.json or, where there is none, in config.json.
#pragma once

#include "heed/io/json.h"
#include "heed/pretrained/family.h"

namespace heed {

// Sets what the file says of the tokens that a text ends with (eos_token_id, of language models: a chat model has its
// end of turn there), is made to begin with (forced_bos_token_id) and never has (suppress_tokens, and bad_words_ids of
// one token each: longer ones are not kept apart). Throws heed::Error that names the place for what is none.
void read_generation_tokens(const Json& generation, FamilyModel& model);

}  // namespace heed
