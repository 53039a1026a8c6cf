#include "heed/base/folder_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "heed/base/check.h"
#include "heed/base/file.h"
#include "heed/base/system_call.h"

namespace heed {
namespace {

using Path = std::filesystem::path;

[[noreturn]] void fail_making(const Path& path, const char* action, int reason = errno) {
  fail("{}: cannot {}: {}", path.string(), action, std::strerror(reason));
}

// "model/" is the folder that "model" is.
Path without_last_slash(const Path& path) { return path.has_filename() ? path : path.parent_path(); }

// Locks the folder; throws where another writer holds it. Not open where there is none.
Descriptor lock_folder(const Path& part, const Path& destination) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor folder(uninterrupted([&] { return ::open(part.c_str(), kFlags); }));
  if (!folder.open() && errno == ENOENT) return folder;
  HEED_CHECK(folder.open(), "{}: cannot make this folder: {} is in the way, and cannot be opened: {}",
             destination.string(), part.string(), std::strerror(errno));
  if (uninterrupted([&] { return ::flock(folder.number(), LOCK_EX | LOCK_NB); }) != 0) {
    HEED_CHECK(errno != EWOULDBLOCK, "{}: cannot make this folder: another writer is at work on it",
               destination.string());
    fail_making(destination, "lock");
  }
  return folder;
}

::mode_t mode_of(const Descriptor& folder, const Path& path) {
  struct ::stat status {};
  if (::fstat(folder.number(), &status) != 0) fail_making(path, "make this folder");
  return status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO | S_ISVTX);
}

}  // namespace

FolderWriter::FolderWriter(Path destination, Nothing)
    : destination_(without_last_slash(std::move(destination))), part_(part_of(destination_)) {}

// The destructor runs, whatever here fails, since the constructor that this one goes on from has ended.
FolderWriter::FolderWriter(Path destination) : FolderWriter(std::move(destination), Nothing{}) {
  HEED_CHECK(!file_exists(destination_), "{}: is there already", destination_.string());
  if (destination_.has_parent_path()) make_folder(destination_.parent_path());
  remove_left_part();
  // As with FileWriter, the sticky bit tells a part of heed's from somebody's own folder, and the lock whether its
  // writer is alive.
  if (::mkdir(part_.c_str(), 0777 | S_ISVTX) != 0) fail_making(destination_, "make this folder");
  made_ = true;
  lock_ = lock_folder(part_, destination_);
}

void FolderWriter::remove_left_part() const {
  const Descriptor left = lock_folder(part_, destination_);
  if (!left.open()) return;
  HEED_CHECK((mode_of(left, destination_) & S_ISVTX) != 0,
             "{}: cannot make this folder: {} is in the way, and not left by heed: move it or remove it",
             destination_.string(), part_.string());
  std::error_code error;
  std::filesystem::remove_all(part_, error);
  if (error) fail_making(part_, "remove", error.value());
}

FolderWriter::~FolderWriter() {
  if (!made_) return;
  try {
    std::error_code ignored;  // the next writer removes it
    std::filesystem::remove_all(part_, ignored);
  } catch (const std::exception&) {
  }
}

void FolderWriter::commit() {
  const ::mode_t mode = mode_of(lock_, destination_) & ~static_cast<::mode_t>(S_ISVTX);
  if (::rename(part_.c_str(), destination_.c_str()) != 0) fail_making(destination_, "make this folder");
  try {
    sync_folder_of(destination_);
  } catch (...) {
    made_ = ::rename(destination_.c_str(), part_.c_str()) == 0;
    throw;
  }
  made_ = false;
  ::fchmod(lock_.number(), mode);  // where it cannot, a mark is left that means little
}

}  // namespace heed
