// What Hugging Face's generate() is told of tokens, in generation_config.json or, where there is none, in config.json.
#pragma once

#include "heed/io/json.h"
#include "heed/pretrained/family.h"

namespace heed {

// Whose word on decoding it is.
enum class GenerationFile {
  config,      // config.json, where there is no other file, or one that was made of it and may be shorter
  generation,  // generation_config.json: what it leaves out there is not
};
GenerationFile generation_file(const Json& generation);

// Sets what the file says of the tokens that a text ends with (eos_token_id), is made to begin with
// (forced_bos_token_id), and to end with where it is cut off (forced_eos_token_id); of what a decoder with an encoder
// begins with (decoder_start_token_id, or bos_token_id where generation_config.json has none); and of what never comes
// (suppress_tokens; bad_words_ids of one token each, which is no end: longer ones are not kept apart) or not first
// (begin_suppress_tokens). Throws heed::Error that names the place for what is none.
void read_generation_tokens(const Json& generation, GenerationFile file, FamilyModel& model);

}  // namespace heed
