// A folder that one process at a time may write to.
//
//   const FileLock lock(folder / "lock");          // until it goes out of scope, or the process ends, however it ends
#pragma once

#include <filesystem>

namespace heed {

class FileLock {
 public:
  // Makes the file where it is missing and locks it; a link is not followed. Throws heed::Error where another process
  // holds it, or it cannot be made.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace heed
