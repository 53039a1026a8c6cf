// What the readers of files of weights are held to, whatever the format.
#pragma once

#include "heed/io/checkpoint.h"

namespace heed::fuzz {

// Every tensor is refused, or is of the type and shape that the file said it to be, has scales for its rows where it
// said so, and is the same when it is asked for again.
void require_tensors(const Checkpoint& file);

}  // namespace heed::fuzz
