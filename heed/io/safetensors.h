// Named tensors in one file: checkpoints. The format is that of https://github.com/huggingface/safetensors.
//
//   write_safetensors("model.safetensors", {{"linear.weight", w}, {"linear.bias", b}}, {{"step", "100"}});
//   const Checkpoint file = open_safetensors("model.safetensors");
//   Tensor weight = file.tensor("linear.weight");
//   std::map<std::string, Tensor> all = read_safetensors("model.safetensors");
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/checkpoint.h"
#include "heed/tensor/tensor.h"

namespace heed {

// Opens a file with tensors of F32, F64, F16, BF16, I8, U8, I16, U16, I32, U32, I64 and BOOL, of rank 0 to 4. Nothing
// in the file is trusted: throws heed::Error that names the file, and the tensor where there is one, for a header that
// is cut short, over 32 MiB or not a JSON object, a name that is there twice, another dtype or rank, a shape that does
// not agree with its bytes, bytes that overlap, belong to no tensor or are missing, and more than 65,536 texts of
// metadata. Cost: some five times the header's size in memory.
Checkpoint open_safetensors(const std::filesystem::path& path);
Checkpoint parse_safetensors(const std::shared_ptr<MappedFile>& file);

// Every tensor of a file; where `metadata` is given, it becomes the file's __metadata__, or empty. Throws as
// open_safetensors and Checkpoint::tensor do.
std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& path,
                                               std::map<std::string, std::string>* metadata = nullptr);

// The same of bytes in memory; `name` stands for the file in errors.
std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, std::string_view name,
                                                std::map<std::string, std::string>* metadata = nullptr);

// The texts of a file's metadata.
std::map<std::string, std::string> texts_of(const Json& metadata);

// Replaces the file, whole or not at all. The same tensors and metadata give the same bytes: tensors lie in the order
// of their element size, largest first, and then of their names, so that each is aligned to its element in a file that
// is mapped; the header is padded to 8 bytes. Views may have any strides. Throws heed::Error that names the file, and
// the tensor, for an empty view, the name "__metadata__", and text that is not UTF-8.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, ConstView>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace heed
