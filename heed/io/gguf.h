// GGUF, the files of llama.cpp: typed metadata, with a model's vocabulary in it, and tensors, many of them packed in
// blocks of few bits. The format is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
//
//   const Checkpoint file = open_gguf("stories260K.gguf");
//   const std::string family = file.metadata()["general.architecture"].string();           // "llama"
//   const std::vector<std::string> pieces = file.metadata()["tokenizer.ggml.tokens"].string_list();
//   Tensor embedding = file.tensor("token_embd.weight");                                   // [512, 64]
#pragma once

#include <filesystem>
#include <memory>

#include "heed/base/error.h"
#include "heed/io/checkpoint.h"

namespace heed {

// Versions 2 and 3, little endian; tensors of F32, F16, BF16, F64, I8, I16, I32, I64, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0,
// Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL and IQ4_XS. Shapes are heed's, [rows, width]: GGUF writes the width first. Rows
// of queries and keys stay as they are: GGUF's are in the order of neighbouring pairs.
//
// Metadata is an object with every key: integers (a u64 beyond 2^63 is a number), numbers (each f32 exactly), booleans,
// strings, whose bytes need not be UTF-8, and arrays, also of arrays.
//
// Nothing in the file is trusted: throws heed::Error that names the file and the key, tensor or byte for another
// version or byte order, counts, lengths and offsets that do not lie in the file, keys and names that are empty or
// there twice, more than 262,144 tensors, 65,536 keys or 4,194,304 values in their arrays, arrays nested more than 8
// deep, types that are not above, and tensors that overlap or do not begin at the file's alignment. Of a model in
// several files (heed/io/gguf_parts.h) the first is opened, which has the metadata, and the others beside it; throws
// heed::Error where one is not there, or is not what it is called. Cost: the metadata, in memory; tensors are not read.
Checkpoint open_gguf(const std::filesystem::path& path);
Checkpoint parse_gguf(const std::shared_ptr<MappedFile>& file);

}  // namespace heed
