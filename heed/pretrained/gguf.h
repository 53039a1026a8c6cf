// What a GGUF file says of its model.
#pragma once

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// Llama (and Mistral), Phi 3, Qwen 2 and 3, Gemma 1 to 3, GPT-2. Throws heed::Error that names the file and the key.
FamilyModel describe_gguf(const Checkpoint& file);

}  // namespace heed
