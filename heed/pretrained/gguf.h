// What a GGUF file says of its model.
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// Llama (and Mistral), Phi 3, Qwen 2 and 3, Gemma 1 to 3, GPT-2. Throws heed::Error that names the file and the key.
FamilyModel describe_gguf(const Checkpoint& file);

// The id that a key of tokenizer.ggml names; -1 where it names none: the key is not there, or its number is no piece's,
// as the largest one.
std::int32_t gguf_token_id(const Json& metadata, std::string_view key);

}  // namespace heed
