// What a folder of CTranslate2 says of its model.
#pragma once

#include <filesystem>

#include "heed/io/checkpoint.h"
#include "heed/pretrained/family.h"

namespace heed {

// A TransformerSpec: encoder and decoder, as OpenNMT, fairseq and Marian train them. `path` is the folder, or model.bin
// in it. Throws heed::Error that names the file and the variable: another spec, and what heed does not compute.
FamilyModel describe_ctranslate2(const std::filesystem::path& path, const Checkpoint& file);

}  // namespace heed
