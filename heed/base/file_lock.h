// A folder that one process at a time may write to.
//
//   const FileLock lock(folder / "lock");          // until it goes out of scope, or the process ends, however it ends
#pragma once

#include <filesystem>

#include "heed/base/descriptor.h"

namespace heed {

class FileLock {
 public:
  // Makes the file where it is missing and locks it; a link is not followed. Throws heed::Error where another process
  // holds it, or it cannot be made.
  explicit FileLock(const std::filesystem::path& path);

 private:
  Descriptor descriptor_;  // the file stays: removing it would let a third process lock another file of the same name
};

}  // namespace heed
