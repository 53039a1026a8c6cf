// Files, written: replaced whole, or added to at the end.
//
//   write_file(path, text);                       // the old file or the new one, never a part
//   FileWriter out(path); out.write(a); out.write(b); out.commit();
//   FileAppender log(path); log.append("a line\n");
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "heed/base/descriptor.h"
#include "heed/base/index.h"

namespace heed {

// Replaces the file at path by contents, whole or not at all: see FileWriter.
void write_file(const std::filesystem::path& path, std::string_view contents);

// Writes beside the destination, and renames over it on commit after the bytes are on disk: a reader, a full disk or a
// kill at any moment sees the old file or the new one. Without commit the destination is untouched. A file that is
// replaced keeps its permissions, and its owner where that is allowed; a link stays, and the file that it leads to is
// replaced. A device or a pipe is never replaced: it takes the bytes as they come, as do descriptors by their names
// (/dev/stdout). Of two writers of one file at one time, the second is refused. Errors are heed::Error that names the
// path and the reason.
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
  void open_part();

  std::filesystem::path path_;    // as the caller says it
  std::filesystem::path target_;  // the same with links followed
  std::filesystem::path part_;    // what is renamed to it; empty where the bytes go straight to their place
  Descriptor descriptor_;
  std::optional<::mode_t> mode_;  // the permissions of the file that is replaced
};

// Adds to the end of a file, which is made where it is missing: a log. Each piece is with the system when append
// returns, so that a kill loses no line that was written. Throws heed::Error that names the path and the reason.
class FileAppender {
 public:
  explicit FileAppender(std::filesystem::path path);

  void append(std::string_view text);

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace heed
