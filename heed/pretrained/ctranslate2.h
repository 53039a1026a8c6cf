// What a folder of CTranslate2 says of its model.
#pragma once

#include <filesystem>

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// The piece's place in the folder's vocabulary of this side, "source" or "target" (or in shared_vocabulary, which both
// have); its pieces. Throws heed::Error where the folder has neither as .json nor as .txt.
std::vector<std::string> ctranslate2_pieces(const std::filesystem::path& folder, std::string_view side);

// A TransformerSpec: encoder and decoder, as OpenNMT, fairseq and Marian train them. `path` is the folder, or model.bin
// in it. Throws heed::Error that names the file and the variable: another spec, and what heed does not compute.
FamilyModel describe_ctranslate2(const std::filesystem::path& path, const Checkpoint& file);

}  // namespace heed
