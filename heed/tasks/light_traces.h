// What of traces would make a page of them too large to open fast.
//
//   const std::string left_out = lighten(pointers);
//   if (!left_out.empty()) warn(left_out);
#pragma once

#include <span>
#include <string>

#include "heed/observe/trace.h"

namespace heed {

// Leaves out queries, keys and biases where they and the embeddings are more than two million numbers together, some 10
// MB of a page, and the embeddings too where those alone are. Gives what was left out as a sentence, or nothing where
// nothing was.
std::string lighten(std::span<AttentionTrace* const> traces);

}  // namespace heed
