// How Hugging Face's generate() decodes, in generation_config.json or, where there is none, in config.json.
#pragma once

#include "heed/io/json.h"
#include "heed/pretrained/family.h"

namespace heed {

// Sets what the file says of decoding: of a model with an encoder its search (num_beams, length_penalty,
// early_stopping, renormalize_logits, min_length, min_new_tokens, max_length, max_new_tokens), of another one its
// sampling (temperature, top_k, top_p, min_p, min_new_tokens, and the temperature 0 where do_sample is false); of both
// repetition_penalty and no_repeat_ngram_size. Lengths count the begin token there and the end token, and here neither;
// where some are said, a source's says nothing. What is left out or null stays, but a search goes on behind as many
// ends as it keeps unless early_stopping says that it does not, and cuts a text off at the most tokens unless
// model.last, which is to be read before, ends it. What is said of language models' other lengths and of their beams is
// not read: the command says how long a text is. Throws heed::Error that names the place for a value out of range,
// but for sampling's where do_sample is not true.
void read_generation_options(const Json& generation, FamilyModel& model);

}  // namespace heed
