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
#include "heed/base/system_call.h"

namespace heed {
namespace {

using Path = std::filesystem::path;

constexpr ::mode_t kPermissions = S_IRWXU | S_IRWXG | S_IRWXO;

[[noreturn]] void fail_writing(const Path& path, const char* action, int reason = errno) {
  fail("{}: cannot {}: {}", path.string(), action, std::strerror(reason));
}

// What ::stat or ::lstat says of the file at `at`; nothing where there is none. What cannot be looked at is an error:
// taken for a file that is not there, a link or a device would be replaced, and permissions would be lost.
std::optional<struct ::stat> look(int (*look_at)(const char*, struct ::stat*), const Path& at, const Path& path) {
  struct ::stat status {};
  if (look_at(at.c_str(), &status) == 0) return status;
  if (errno != ENOENT && errno != ENOTDIR) fail_writing(path, "write");
  return {};
}

struct ::stat look(const Descriptor& descriptor, const Path& path) {
  struct ::stat status {};
  if (::fstat(descriptor.number(), &status) != 0) fail_writing(path, "write");
  return status;
}

// --- Where the bytes go ----------------------------------------------------------------------------------------------

// The number of the descriptor that a path such as /proc/self/fd/1 names. What has been written to it stays before what
// comes now only if the bytes go to the descriptor itself: opened anew, a file would be written from its beginning.
std::optional<int> named_descriptor(const Path& at, const Path& path) {
  std::error_code error;
  const Path folder = std::filesystem::canonical("/proc/self/fd", error);
  if (error == std::errc::no_such_file_or_directory) return {};
  const Path folder_of_path = error ? Path() : std::filesystem::weakly_canonical(at.parent_path(), error);
  if (error) fail_writing(path, "write", error.value());
  if (folder_of_path != folder) return {};
  const std::string name = at.filename().string();
  int descriptor = -1;
  const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  if (bad != std::errc() || end != name.data() + name.size() || descriptor < 0) return {};
  return descriptor;
}

// A device, a pipe, or a link to one.
bool is_special(const Path& at, const Path& path) {
  const auto status = look(::stat, at, path);
  return status && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode);
}

// What the links that begin at path lead to, whether it is there or not. What is never replaced need not be found.
Path behind_links(const Path& path) {
  constexpr int kMostLinks = 40;  // the system's own limit
  Path at = path;
  for (int links = 0; !named_descriptor(at, path) && !is_special(at, path); ++links) {
    const auto status = look(::lstat, at, path);
    if (!status || !S_ISLNK(status->st_mode)) return at;
    if (links == kMostLinks) fail_writing(path, "write", ELOOP);
    std::error_code error;
    const Path next = std::filesystem::read_symlink(at, error);
    if (error) fail_writing(path, "write", error.value());
    at = at.parent_path() / next;
  }
  return at;
}

// --- Parts -----------------------------------------------------------------------------------------------------------

// A part has one name for each destination (part_of), so that what a kill leaves is found by the next writer and does
// not pile up. Two marks tell what a file of that name is:
// - The sticky bit, which means nothing for a file. A part has it from the moment it is made until after the rename; a
//   file without it is somebody's own, and stays as it is.
// - The lock. A part that is locked has a living writer; one that is not was left by a kill, and is removed. Nobody
//   writes to a part that is found: each writer makes its own anew, so that no link is followed, nothing truncated.

// Whether the descriptor's file is still the one at the path: another writer may have renamed or removed it.
bool is_at(const Path& part, const Descriptor& descriptor, const Path& path) {
  const struct ::stat here = look(descriptor, path);
  const auto there = look(::lstat, part, path);
  return there && here.st_dev == there->st_dev && here.st_ino == there->st_ino;
}

// Locks the part; false where it is no longer at its path. Throws where another writer holds it.
bool lock_part(const Descriptor& descriptor, const Path& part, const Path& path) {
  if (uninterrupted([&] { return ::flock(descriptor.number(), LOCK_EX | LOCK_NB); }) != 0) {
    HEED_CHECK(errno != EWOULDBLOCK, "{}: cannot write: another writer is at work on it", path.string());
    fail_writing(path, "lock");
  }
  return is_at(part, descriptor, path);
}

// Removes what a kill left at the part's place. Throws where something else is there.
void remove_left_part(const Path& part, const Path& path) {
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const auto open_part = [&](int access) {
    return Descriptor(uninterrupted([&] { return ::open(part.c_str(), access | kFlags); }));
  };
  Descriptor descriptor = open_part(O_RDWR);
  if (!descriptor.open() && errno == EACCES) descriptor = open_part(O_RDONLY);
  if (!descriptor.open() && errno == ENOENT) return;
  HEED_CHECK(descriptor.open(), "{}: cannot write: {} is in the way, and cannot be opened: {}", path.string(),
             part.string(), std::strerror(errno));
  const struct ::stat status = look(descriptor, path);
  const bool ours = S_ISREG(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && status.st_nlink <= 1;
  // A writer that has ended since this was opened has taken its mark off, somewhere else.
  if (!ours && !is_at(part, descriptor, path)) return;
  HEED_CHECK(ours, "{}: cannot write: {} is in the way, and not left by heed: move it or remove it", path.string(),
             part.string());
  if (!lock_part(descriptor, part, path)) return;
  HEED_CHECK(::unlink(part.c_str()) == 0, "{}: cannot write: cannot remove {}: {}", path.string(), part.string(),
             std::strerror(errno));
}

// Makes a new part, and returns it locked.
Descriptor make_part(const Path& part, const Path& path, ::mode_t mode) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  for (;;) {
    Descriptor descriptor(uninterrupted([&] { return ::open(part.c_str(), kFlags, mode | S_ISVTX); }));
    if (descriptor.open()) {
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
  if (const std::optional<int> named = named_descriptor(target_, path_)) {
    descriptor_ = Descriptor(::fcntl(*named, F_DUPFD_CLOEXEC, 0));
  } else if (is_special(target_, path_)) {
    descriptor_ = Descriptor(uninterrupted([&] { return ::open(target_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC); }));
  } else {
    open_part();
  }
  if (!descriptor_.open()) fail_writing(path_, "write");
}

void FileWriter::open_part() {
  const auto old = look(::stat, target_, path_);
  if (old && S_ISDIR(old->st_mode)) fail_writing(path_, "write", EISDIR);
  part_ = part_of(target_);
  // Nobody may read what comes into a private file before it is one.
  descriptor_ = make_part(part_, path_, old ? S_IRUSR | S_IWUSR : 0666);
  if (!old) return;
  mode_ = old->st_mode & kPermissions;
  const auto give_to = [&](::uid_t owner) {
    return uninterrupted([&] { return ::fchown(descriptor_.number(), owner, old->st_gid); }) == 0;
  };
  if (!give_to(old->st_uid) && !give_to(static_cast<::uid_t>(-1))) {
    *mode_ &= ~S_IRWXG;  // they were meant for another group
  }
}

FileWriter::~FileWriter() {
  if (!descriptor_.open() || part_.empty()) return;
  try {
    if (is_at(part_, descriptor_, path_)) ::unlink(part_.c_str());
  } catch (const std::exception&) {  // the next writer removes it
  }
}

void FileWriter::write(std::string_view bytes) {
  if (!write_whole(descriptor_.number(), bytes)) fail_writing(path_, "write");
}

void FileWriter::write(const void* data, Index bytes) {
  write({static_cast<const char*>(data), static_cast<std::size_t>(bytes)});
}

void FileWriter::commit() {
  const int descriptor = descriptor_.number();
  if (uninterrupted([&] { return ::fsync(descriptor); }) != 0 && errno != EINVAL) fail_writing(path_, "flush");
  if (!part_.empty()) {
    const ::mode_t made = look(descriptor_, path_).st_mode & kPermissions, mode = mode_.value_or(made);
    const auto permit = [&](::mode_t bits) { return uninterrupted([&] { return ::fchmod(descriptor, bits); }) == 0; };
    if (mode != made && !permit(mode | S_ISVTX)) fail_writing(path_, "set the permissions");
    if (::rename(part_.c_str(), target_.c_str()) != 0) fail_writing(path_, "replace");
    permit(mode);  // where it cannot, a mark is left that means nothing
  }
  descriptor_.close();
  if (!part_.empty()) sync_folder_of(target_);
}

FileAppender::FileAppender(Path path)
    : path_(std::move(path)), descriptor_(uninterrupted([&] {
        constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC;
        return ::open(path_.c_str(), kFlags, 0666);
      })) {
  if (!descriptor_.open()) fail_writing(path_, "write");
}

void FileAppender::append(std::string_view text) {
  if (!write_whole(descriptor_.number(), text)) fail_writing(path_, "write");
}

}  // namespace heed
