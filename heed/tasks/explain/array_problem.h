// Attention on the user's own arrays, read from numpy files.
//
//   Explanation walk = explain_attention(read_attention_inputs({.q = "q.npy", .k = "k.npy", .v = "v.npy"}));
#pragma once

#include <filesystem>

#include "heed/base/index.h"
#include "heed/tasks/explain/attention_walk.h"

namespace heed {

struct AttentionFiles {
  std::filesystem::path q, k, v;
  Index heads = 1;  // above 1: matrices [L, heads * D] are split into heads
};

// Reads q, k and v, all of one rank: [L, D], [H, L, D] or [B, H, L, D], of any floating or integer type; k and v may
// have fewer heads than q. Throws heed::Error that names the files and their shapes for anything else.
AttentionInputs read_attention_inputs(const AttentionFiles& files);

// Reads a mask for q and k into problem.allowed: boolean [Lq, Lk], [H | 1, Lq, Lk] or [B | 1, H | 1, Lq, Lk]; true
// means attend. Throws heed::Error that names the file.
void read_mask(const std::filesystem::path& file, AttentionInputs& problem);

}  // namespace heed
