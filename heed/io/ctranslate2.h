// CTranslate2's model.bin: named variables behind each other, some of them the other's alias. The format is that of
// https://github.com/OpenNMT/CTranslate2 (python/ctranslate2/specs/model_spec.py).
//
//   const Checkpoint file = open_ctranslate2("ende/model.bin");
//   const std::string spec = file.metadata()["spec"].string();                              // "TransformerSpec"
//   Tensor weight = file.tensor("encoder/layer_0/self_attention/linear_0/weight");          // f32, or i8 ...
//   Tensor scales = file.scales("encoder/layer_0/self_attention/linear_0/weight");          // ... with these
//   const auto pieces = read_ctranslate2_vocabulary("ende/source_vocabulary.txt");
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/checkpoint.h"

namespace heed {

// Versions 1 to 6: float32, int8, int16, int32, float16 and bfloat16 (files before version 4 say only how wide a number
// is, and 4 bytes are float32). A weight of int8 is divided by the scale of its row, one of int16 by that of all of it
// (1000 where an old file has none): the first is heed's i8 with scales, the reciprocals of the file's, the second
// becomes f32. What the scales are of has them; `NAME_scale` is no tensor of its own. An alias is the tensor that it
// stands for. Names of the first revision of translators, OpenNMT-tf's, are those of later ones here
// (heed/io/ctranslate2_names.h). Variables lie at any address, so most are copied.
//
// Nothing in the file is trusted: throws heed::Error that names the file and the variable or byte for another version,
// names, shapes and bytes that do not lie in the file or do not agree, a name that is there twice, an alias of nothing,
// a weight of int8 without scales, scales that are not f32, one for all or one for each row, and bytes behind the last.
Checkpoint open_ctranslate2(const std::filesystem::path& path);
Checkpoint parse_ctranslate2(const std::shared_ptr<MappedFile>& file);

// Whether bytes begin as such a file does.
bool looks_like_ctranslate2(std::string_view bytes);

// The pieces of a vocabulary beside model.bin, in the order of their ids: a JSON array of strings, or a text file with
// a piece a line. Throws heed::Error naming the file.
std::vector<std::string> read_ctranslate2_vocabulary(const std::filesystem::path& path);

}  // namespace heed
