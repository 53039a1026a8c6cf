// Whatever somebody trained: a file or a folder of weights, whose format is found out.
//
//   open_checkpoint("model.safetensors").format() == CheckpointFormat::safetensors;
//   open_checkpoint("llama-3.2-1b").format();          // of a folder: what it finds there
//   open_checkpoint("stories260K.gguf").tensor("token_embd.weight");
#pragma once

#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/checkpoint.h"

namespace heed {

// Of a file, its first bytes say what it is, whatever its name: safetensors, an index of several (JSON), GGUF,
// CTranslate2, llama2.c. Of a folder: its model.safetensors, model.safetensors.index.json or model.bin; else the only
// *.gguf, *.safetensors, *.bin (or *.pt and the like) in it that is one of those.
//
// Throws heed::Error that names the file, says what it is where that is known (a Python pickle, which is never read,
// with what to convert it by; a pointer of Git LFS), what was looked for in a folder, or as the format's reader does.
Checkpoint open_checkpoint(const std::filesystem::path& path);

// What open_checkpoint opens: the path itself, or the file of a folder.
std::filesystem::path checkpoint_path(const std::filesystem::path& path);

}  // namespace heed
