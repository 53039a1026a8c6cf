// The vocabulary of another toolkit's model, in whatever files or inside whatever file it is.
#pragma once

#include <filesystem>

#include "heed/tasks/text_codec.h"

namespace heed {

// Of a folder: its tokenizer's files (heed/text/open_tokenizer.h), or the only SentencePiece model, or CTranslate2's
// lists of pieces, which are separated by spaces in texts. Of a file: GGUF's own vocabulary, or the files beside it.
// Throws heed::Error that names the place where there is none.
Vocabularies open_vocabularies(const std::filesystem::path& path);
// Whether there is one, which may be broken.
bool has_vocabularies(const std::filesystem::path& path);

}  // namespace heed
