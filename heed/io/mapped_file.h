// The bytes of a file as memory: pages that are read when they are used, and that the system keeps for every process.
//
//   const auto file = std::make_shared<MappedFile>("model.safetensors");
//   const std::string_view header = file->bytes().substr(8, 100);
//   View view = make_view(file->data() + 108, DType::f32, {512, 256});
//   Tensor weight = Tensor::borrow(view, file);          // which keeps the mapping
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

class FileReader;

// A regular file is mapped, and copied on write: who writes to a tensor over it gets pages of its own, and neither the
// file nor another process sees it. What else can be read, a pipe, a device, a file of /proc, is read to its end into
// memory. An empty file has no bytes.
//
// A mapping shows the file as it is: what somebody writes into it meanwhile may be seen or not, and of one that is cut
// short the system takes the pages away, and ends who reads them with SIGBUS. check_unchanged is for whoever is about
// to read. A file that is replaced by another of its name, as all that heed writes is, stays what it was.
//
// Cost: opening maps and reads nothing; one descriptor is open as long as the mapping lives.
class MappedFile {
 public:
  // Throws heed::Error that names the file and the system's reason; a folder is none.
  explicit MappedFile(const std::filesystem::path& path);
  // The same of bytes in memory, whose name in errors is `name`.
  MappedFile(std::string bytes, std::string name);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // The path, for errors.
  const std::string& name() const { return name_; }
  std::string_view bytes() const { return {data_, size_}; }
  // Writable, as said above; aligned to a page, or as the heap aligns.
  char* data() const { return data_; }

  // Throws heed::Error where the file has been written to, or cut short, since it was opened.
  void check_unchanged() const;
  // Lets the pages that lie wholly within these bytes go: they have been read and are not needed again. Nobody may have
  // written to them.
  void release_pages(std::string_view bytes) const;

 private:
  // What tells a file from the same file when it has been written to.
  struct State {
    std::int64_t bytes = 0, seconds = 0, nanoseconds = 0;
  };
  State state() const;

  std::string name_;
  std::unique_ptr<FileReader> reader_;  // while it is mapped
  State opened_;                        // the mapped file's
  std::string held_;                    // the bytes of what is not mapped
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heed
