#include "heed/base/file_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include "heed/base/check.h"
#include "heed/base/file.h"

namespace heed {
namespace {

using Path = std::filesystem::path;

constexpr ::mode_t kPermissions = S_IRWXU | S_IRWXG | S_IRWXO;

[[noreturn]] void fail_writing(const Path& path, const char* action, int reason = errno) {
  fail("{}: cannot {}: {}", path.string(), action, std::strerror(reason));
}

void write_all(int descriptor, const void* data, Index bytes, const Path& path) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ::ssize_t wrote = ::write(descriptor, at, static_cast<std::size_t>(bytes));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_writing(path, "write");
    at += wrote;
    bytes -= wrote;
  }
}

// --- Where the bytes go ----------------------------------------------------------------------------------------------

// The number of the descriptor that a path such as /proc/self/fd/1 names. What has been written to it stays before what
// comes now only if the bytes go to the descriptor itself: opened anew, a file would be written from its beginning.
std::optional<int> named_descriptor(const Path& path) {
  std::error_code error;
  const Path folder = std::filesystem::canonical("/proc/self/fd", error);
  if (error || std::filesystem::weakly_canonical(path.parent_path(), error) != folder) return {};
  const std::string name = path.filename().string();
  int descriptor = -1;
  const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  if (bad != std::errc() || end != name.data() + name.size() || descriptor < 0) return {};
  return descriptor;
}

// A device, a pipe, or a link to one.
bool is_special(const Path& path) {
  struct ::stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

// What the links that begin at path lead to, whether it is there or not. What is never replaced need not be found.
Path behind_links(const Path& path) {
  constexpr int kMostLinks = 40;  // the system's own limit
  Path at = path;
  for (int links = 0; !named_descriptor(at) && !is_special(at); ++links) {
    std::error_code error;
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(at, error))) return at;
    if (links == kMostLinks) fail_writing(path, "write", ELOOP);
    const Path next = std::filesystem::read_symlink(at, error);
    if (error) fail_writing(path, "write", error.value());
    at = at.parent_path() / next;
  }
  return at;
}

// --- Parts -----------------------------------------------------------------------------------------------------------

// A part has one name for each destination, so that what a kill leaves is found by the next writer and does not pile
// up. Two marks tell what a file of that name is:
// - The sticky bit, which means nothing for a file. A part has it from the moment it is made until after the rename; a
//   file without it is somebody's own, and stays as it is.
// - The lock. A part that is locked has a living writer; one that is not was left by a kill, and is removed. Nobody
//   writes to a part that is found: each writer makes its own anew, so that no link is followed, nothing truncated.
Path part_of(const Path& target) {
  constexpr std::size_t kLongest = 200;  // a name has at most 255 bytes
  return target.parent_path() / ("." + target.filename().string().substr(0, kLongest) + ".heed-part");
}

// Whether the descriptor's file is still the one at the path: another writer may have renamed or removed it.
bool is_at(const Path& path, int descriptor) {
  struct ::stat here {
  }, there{};
  return ::fstat(descriptor, &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

// Locks the part; false where it is no longer at its path. Throws where another writer holds it.
bool lock_part(int descriptor, const Path& part, const Path& path) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(descriptor);
    HEED_CHECK(reason != EWOULDBLOCK, "{}: cannot write: another writer is at work on it", path.string());
    fail_writing(path, "lock", reason);
  }
  if (is_at(part, descriptor)) return true;
  ::close(descriptor);
  return false;
}

// Removes what a kill left at the part's place. Throws where something else is there.
void remove_left_part(const Path& part, const Path& path) {
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  int descriptor = ::open(part.c_str(), O_RDWR | kFlags);
  if (descriptor < 0 && errno == EACCES) descriptor = ::open(part.c_str(), O_RDONLY | kFlags);
  if (descriptor < 0 && errno == ENOENT) return;
  struct ::stat status {};
  const bool ours = descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                    (status.st_mode & S_ISVTX) != 0 && status.st_nlink <= 1;
  if (!ours) {
    if (descriptor >= 0) ::close(descriptor);
    fail("{}: cannot write: {} is in the way, and not left by heed: move it or remove it", path.string(),
         part.string());
  }
  if (!lock_part(descriptor, part, path)) return;
  const int removed = ::unlink(part.c_str()), reason = errno;
  ::close(descriptor);
  if (removed != 0) fail("{}: cannot write: cannot remove {}: {}", path.string(), part.string(), std::strerror(reason));
}

// Makes a new part, and returns it locked.
int make_part(const Path& part, const Path& path, ::mode_t mode) {
  for (;;) {
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | S_ISVTX);
    if (descriptor >= 0) {
      if (lock_part(descriptor, part, path)) return descriptor;
    } else {
      if (errno != EEXIST) fail_writing(path, "write");
      remove_left_part(part, path);
    }
  }
}

}  // namespace

void write_file(const Path& path, std::string_view contents) {
  FileWriter writer(path);
  writer.write(contents);
  writer.commit();
}

FileWriter::FileWriter(Path path) : path_(std::move(path)), target_(behind_links(path_)) {
  if (const std::optional<int> named = named_descriptor(target_)) {
    descriptor_ = ::fcntl(*named, F_DUPFD_CLOEXEC, 0);
  } else if (is_special(target_)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  } else {
    open_part();
  }
  if (descriptor_ < 0) fail_writing(path_, "write");
}

void FileWriter::open_part() {
  struct ::stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces && S_ISDIR(old.st_mode)) fail_writing(path_, "write", EISDIR);
  part_ = part_of(target_);
  // Nobody may read what comes into a private file before it is one.
  descriptor_ = make_part(part_, path_, replaces ? S_IRUSR | S_IWUSR : 0666);
  if (!replaces) return;
  mode_ = old.st_mode & kPermissions;
  if (::fchown(descriptor_, old.st_uid, old.st_gid) != 0 && ::fchown(descriptor_, -1, old.st_gid) != 0) {
    *mode_ &= ~S_IRWXG;  // they were meant for another group
  }
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  if (!part_.empty() && is_at(part_, descriptor_)) ::unlink(part_.c_str());
  ::close(descriptor_);
}

void FileWriter::write(std::string_view bytes) { write(bytes.data(), static_cast<Index>(bytes.size())); }

void FileWriter::write(const void* data, Index bytes) { write_all(descriptor_, data, bytes, path_); }

void FileWriter::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_writing(path_, "flush");
  if (!part_.empty()) {
    struct ::stat status {};
    if (::fstat(descriptor_, &status) != 0) fail_writing(path_, "look at");
    const ::mode_t made = status.st_mode & kPermissions, mode = mode_.value_or(made);
    if (mode != made && ::fchmod(descriptor_, mode | S_ISVTX) != 0) fail_writing(path_, "set the permissions");
    if (::rename(part_.c_str(), target_.c_str()) != 0) fail_writing(path_, "replace");
    ::fchmod(descriptor_, mode);
  }
  ::close(descriptor_);
  descriptor_ = -1;
  if (!part_.empty()) sync_folder_of(target_);
}

FileAppender::FileAppender(Path path)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail_writing(path_, "write");
}

FileAppender::~FileAppender() { ::close(descriptor_); }

void FileAppender::append(std::string_view text) {
  write_all(descriptor_, text.data(), static_cast<Index>(text.size()), path_);
}

}  // namespace heed
