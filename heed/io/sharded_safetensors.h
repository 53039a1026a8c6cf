// One set of tensors in several safetensors files, and the index that says in which each lies.
//
//   const Checkpoint all = open_sharded_safetensors("llama/model.safetensors.index.json");
//   Tensor weight = all.tensor("model.layers.0.self_attn.q_proj.weight");     // from model-00001-of-00002.safetensors
#pragma once

#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/checkpoint.h"

namespace heed {

// Opens the index, {"metadata": {...}, "weight_map": {"TENSOR": "FILE"}}, and the files that it names, which lie beside
// it. It decides: a tensor that a file holds and the index does not give to that file is left out. The metadata is the
// index's. Throws heed::Error that names the index, and the file or tensor: for a file that is not there or named by a
// path, a tensor that the file does not hold, and as open_safetensors does.
Checkpoint open_sharded_safetensors(const std::filesystem::path& index);

}  // namespace heed
