#include "heed/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heed/base/check.h"

namespace heed {

FileLock::FileLock(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666)) {
  HEED_CHECK(descriptor_ >= 0, "{}: cannot write: {}", path.string(), std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  ::close(descriptor_);
  HEED_CHECK(reason != EWOULDBLOCK, "{}: another process is at work in this folder", path.string());
  fail("{}: cannot lock: {}", path.string(), std::strerror(reason));
}

// The file stays: removing it would let a third process lock another file of the same name.
FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace heed
