// Files, read and written whole.
//
//   std::string text = read_file(path);
//   write_file(path, text);                       // the old file or the new one, never a part
//   FileWriter out(path); out.write(a); out.write(b); out.commit();
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/index.h"

namespace heed {

// Returns the whole file. Throws heed::Error naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

// Replaces the file at path by contents, whole or not at all: see FileWriter.
void write_file(const std::filesystem::path& path, std::string_view contents);

// Makes the folder and its parents; no error where it exists. Throws heed::Error naming the path and the reason.
void make_folder(const std::filesystem::path& path);

// Whether there is a file or folder. Throws heed::Error where that cannot be told (no permission on a parent folder).
bool file_exists(const std::filesystem::path& path);
// Removes a file; no error where there is none. Throws heed::Error.
void remove_file(const std::filesystem::path& path);
// What lies in a folder, in the order of names. Throws heed::Error naming the folder and the reason.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

// True if text is well-formed UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF). Where it is not and
// offset is given, *offset is the first byte that is wrong.
bool valid_utf8(std::string_view text, Index* offset = nullptr);

// Writes beside the destination, and renames over it on commit after the bytes are on disk: a reader, a full disk or a
// kill at any moment sees the old file or the new one. Without commit the destination is untouched and the part is
// removed. A device or a pipe (/dev/stdout) is never replaced: it takes the bytes as they come.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view bytes);
  void write(const void* data, Index bytes);
  void commit();

 private:
  [[noreturn]] void fail_writing(const char* action);

  std::filesystem::path path_;
  std::filesystem::path part_;
  int descriptor_ = -1;
};

}  // namespace heed
