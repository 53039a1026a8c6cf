#include "heed/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "heed/base/check.h"
#include "heed/base/system_call.h"

namespace heed {

FileLock::FileLock(const std::filesystem::path& path)
    : descriptor_(
          uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666); })) {
  HEED_CHECK(descriptor_.open(), "{}: cannot write: {}", path.string(), std::strerror(errno));
  if (uninterrupted([&] { return ::flock(descriptor_.number(), LOCK_EX | LOCK_NB); }) == 0) return;
  HEED_CHECK(errno != EWOULDBLOCK, "{}: another process is at work in this folder", path.string());
  fail("{}: cannot lock: {}", path.string(), std::strerror(errno));
}

}  // namespace heed
