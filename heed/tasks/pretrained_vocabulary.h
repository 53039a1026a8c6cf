// The vocabulary of another toolkit's model, in whatever files or inside whatever file it is.
#pragma once

#include <filesystem>
#include <memory>

#include "heed/text/vocabulary.h"

namespace heed {

struct PretrainedVocabularies {
  std::shared_ptr<const Vocabulary> source, target;  // one object where they are joint
};

// Of a folder: its tokenizer's files (heed/text/open_tokenizer.h), or the only SentencePiece model, or CTranslate2's
// lists of pieces, which are separated by spaces in texts. Of a file: GGUF's own vocabulary, or the files beside it.
// Throws heed::Error that names the place where there is none.
PretrainedVocabularies open_vocabularies(const std::filesystem::path& path);

}  // namespace heed
