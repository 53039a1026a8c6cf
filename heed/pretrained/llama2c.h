// What a file of llama2.c says of its model.
#pragma once

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// Throws heed::Error that names the file and the number.
FamilyModel describe_llama2c(const Checkpoint& file);

}  // namespace heed
