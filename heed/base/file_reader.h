// A file, read from its beginning to its end.
//
//   FileReader file("model.safetensors");
//   file.read(&length, sizeof length);
//   std::string rest = file.read_rest();
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "heed/base/descriptor.h"
#include "heed/base/index.h"

namespace heed {

// Every error is a heed::Error that names the file and the system's reason.
class FileReader {
 public:
  explicit FileReader(const std::filesystem::path& path);

  // The bytes of a regular file; nothing for an empty file, a pipe or a device, whose end is known only when it is
  // reached.
  std::optional<Index> size() const { return size_; }
  // For calls of the system that are not here; it stays this object's.
  int descriptor() const { return descriptor_.number(); }
  // Reads `bytes` bytes, fewer only at the end of the file; returns how many.
  Index read(void* to, Index bytes);
  std::string read_rest();

 private:
  std::string name_;
  Descriptor descriptor_;
  std::optional<Index> size_;
};

}  // namespace heed
