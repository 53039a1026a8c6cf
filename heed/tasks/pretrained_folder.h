// Another toolkit's model, with its vocabulary, as a ModelFolder.
#pragma once

#include <filesystem>

#include "heed/tasks/model_folder.h"

namespace heed {

// Whether the path is such a model: a file; or a folder whose config.json is not heed's, or that has weights without
// one (CTranslate2, GGUF, llama2.c), or whose modules.json says where they are (sentence-transformers).
bool is_pretrained(const std::filesystem::path& path);

// Throws heed::Error as open_pretrained does, and where the vocabulary is missing or not the model's.
ModelFolder load_pretrained(const std::filesystem::path& path);

}  // namespace heed
