// A GGUF model in several files, as llama-gguf-split cuts it: m-00001-of-00003.gguf has the metadata, and each file has
// some of the tensors.
#pragma once

#include <filesystem>
#include <string>

#include "heed/io/json.h"

namespace heed {

// How many files there are, by the first one's metadata (split.count): 1 where it says nothing of that. Throws
// heed::Error where it is not the first (split.no).
Index gguf_parts(const Json& metadata);
// Throws heed::Error unless the metadata is that of part `number`, from 0, of so many.
void check_gguf_part(const Json& metadata, Index number, Index parts);

// The path of part `number`, from 0, beside the first of so many. Throws heed::Error where the first one's name does
// not end as it must.
std::filesystem::path gguf_part(const std::filesystem::path& first, Index number, Index parts);
// Of any part's path that of the first, by its name alone; other paths as they are.
std::filesystem::path first_gguf_part(const std::filesystem::path& path);

}  // namespace heed
