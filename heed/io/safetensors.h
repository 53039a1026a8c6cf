// Named tensors in one file: checkpoints. The format is that of https://github.com/huggingface/safetensors.
//
//   write_safetensors("model.safetensors", {{"linear.weight", w}, {"linear.bias", b}}, {{"step", "100"}});
//   std::map<std::string, std::string> metadata;
//   std::map<std::string, Tensor> tensors = read_safetensors("model.safetensors", &metadata);
//   SafetensorsFile file("model.safetensors");     // its header; file.read hands over one tensor after the other
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "heed/tensor/tensor.h"

namespace heed {

// Reads every tensor: F32, F64, F16, BF16, I8, I32, I64 and BOOL of rank 0 to 4. Where `metadata` is given, it becomes
// the file's __metadata__, or empty. Nothing in the file is trusted: throws heed::Error that names the file, and the
// tensor where there is one, for a header that is cut short, over 32 MiB or not a JSON object, a name that is there
// twice, another dtype or rank, a shape that does not agree with its bytes, bytes that overlap, belong to no tensor or
// are missing, and more than 65,536 texts of metadata.
std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& path,
                                               std::map<std::string, std::string>* metadata = nullptr);

// The same of bytes in memory; `name` stands for the file in errors.
std::map<std::string, Tensor> parse_safetensors(std::string_view bytes, std::string_view name,
                                                std::map<std::string, std::string>* metadata = nullptr);

// What a file says about its tensors.
struct SafetensorsHeader {
  struct Entry {
    DType dtype = DType::f32;
    int rank = 0;
    Shape shape{1, 1, 1, 1};
    Index begin = 0, end = 0;  // its bytes, from the end of the header

    Index size() const { return (end - begin) / size_of(dtype); }
  };
  std::map<std::string, Entry> tensors;
  std::map<std::string, std::string> metadata;
};

// A file that is open, whose header has been read and whose tensors have not: it can be looked at, and refused, before
// memory is asked for. Cost: some five times the header's size in memory.
class SafetensorsFile {
 public:
  // Throws as read_safetensors does, but for booleans that are neither 0 nor 1.
  explicit SafetensorsFile(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  // The path, for errors.
  const std::string& name() const;
  const SafetensorsHeader& header() const;
  // Reads the tensors in the order of their bytes and hands each over, in memory of its own. To be called once.
  void read(const std::function<void(const std::string& name, Tensor tensor)>& take);

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
};

// The header alone, however large the tensors are.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);

// Replaces the file, whole or not at all. The same tensors and metadata give the same bytes: tensors lie in the order
// of their element size, largest first, and then of their names, so that each is aligned to its element in a file that
// is mapped; the header is padded to 8 bytes. Views may have any strides. Throws heed::Error that names the file, and
// the tensor, for an empty view, the name "__metadata__", and text that is not UTF-8.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, ConstView>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace heed
